import type { Surface } from "../../road/surface.ts";
import type { Refusal } from "../../kernel/errors.ts";

const encoder = new TextEncoder();

/** Errors of the portal: `{error: <message>, code, fields?}` with the HTTP status (interface 7). */
export const portalRefusals: Pick<Surface, "refusal" | "streamError"> = {
  refusal: (refusal) => ({
    headers: { "content-type": "application/json", "cache-control": "no-store", "x-content-type-options": "nosniff" },
    body: JSON.stringify(bodyOf(refusal)),
  }),
  streamError: (refusal) => encoder.encode(`event: error\ndata: ${JSON.stringify(bodyOf(refusal))}\n\n`),
};

function bodyOf(refusal: Refusal): object {
  return {
    error: refusal.message,
    code: refusal.code,
    ...(refusal.fields === undefined ? {} : { fields: refusal.fields }),
    ...refusal.extra,
  };
}
