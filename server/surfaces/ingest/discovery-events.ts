import { isRefusal } from "../../kernel/errors.ts";
import { jsonAnswer } from "../../road/answer.ts";
import { EMPTY_VIEW } from "../../road/request/empty-view.ts";
import type { Surface } from "../../road/surface.ts";
import type { CollectorInlet } from "../../services/discovery/collector-inlet.ts";

export const DISCOVERY_EVENTS_BYTES = 256 * 1024;

const encoder = new TextEncoder();

/** POST /v1/discovery/events: findings of collectors on devices, authenticated by the signature of a registered key. */
export function discoveryEventsInlet(inlet: CollectorInlet): Surface {
  return {
    refusal: (refusal) => ({
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        error: refusal.message,
        code: refusal.code,
        ...(refusal.fields === undefined ? {} : { fields: refusal.fields }),
      }),
    }),
    streamError: (refusal) => encoder.encode(refusal.message),
    read: (_call, body) => ({
      view: EMPTY_VIEW,
      async answer(call) {
        const taken = await inlet.accept(call, body ?? new Uint8Array());
        return isRefusal(taken) ? taken : jsonAnswer(taken);
      },
    }),
  };
}
