import type { Dispatch } from "../../services/models/dispatch.ts";
import type { KeptItems } from "../../services/models/kept-items.ts";
import type { Call } from "../../road/call.ts";
import { invalidRequest } from "../../road/invalid-request.ts";
import type { Surface } from "../../road/surface.ts";
import { responsesCodec } from "../../wire/responses/responses-codec.ts";
import { readResponsesReply } from "../../wire/responses/responses-reply.ts";
import { readResponsesRequest, type ResponsesRequest } from "../../wire/responses/responses-request.ts";
import { ResponsesStream } from "../../wire/responses/responses-stream.ts";
import { statefulFields } from "../../wire/responses/stateful-fields.ts";
import { conversationExchange, vendorHeaders } from "./conversation.ts";
import { responsesRefusals } from "./refusals.ts";

/** POST /responses: plain and streamed (interface 4.2). */
export const responses = (models: Dispatch, items: Pick<KeptItems, "find" | "keep">): Surface => ({
  ...responsesRefusals,
  namesFiles: "responses",
  read(call, body) {
    const inbound = readResponsesRequest(body ?? new Uint8Array(0));
    if ("fields" in inbound) return invalidRequest(inbound.fields);
    const served = () => exchange(call, models, inbound, items);
    if (!inbound.namesItems) return served();
    const whole = (kept: ReadonlyMap<string, string>) => {
      const problems = inbound.putNamedItems(kept);
      return problems.length > 0 ? invalidRequest(problems) : served();
    };
    const kept = items.find(call, inbound.namedItems);
    return kept instanceof Promise ? kept.then(whole) : whole(kept);
  },
});

function exchange(call: Call, models: Dispatch, inbound: ResponsesRequest, items: Pick<KeptItems, "keep">) {
  return conversationExchange(
    models,
    {
      inbound,
      caller: responsesCodec,
      passing: { stream: () => new ResponsesStream(), reply: readResponsesReply },
      writer: null,
      streamType: "text/event-stream",
      includeUsage: true,
      headers: vendorHeaders(call, ["openai-beta", "idempotency-key"]),
      keep: (found) => items.keep(call, found),
      statefulFields: statefulFields(inbound.body),
    },
    ["responses", "chat"],
  );
}
