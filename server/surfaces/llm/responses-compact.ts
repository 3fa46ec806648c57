import { isRefusal } from "../../kernel/errors.ts";
import type { NoteSeals } from "../../road/request/conversation.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import type { Surface } from "../../road/surface.ts";
import { InboundView } from "../../road/view.ts";
import { sealsIn } from "../../wire/responses/item-references.ts";
import { responsesCodec } from "../../wire/responses/responses-codec.ts";
import { readResponsesInput } from "../../wire/responses/responses-input-request.ts";
import { readResponsesReply } from "../../wire/responses/responses-reply.ts";
import { ResponsesStream } from "../../wire/responses/responses-stream.ts";
import { statefulFields } from "../../wire/responses/stateful-fields.ts";
import { requestedKnowledge } from "./requested-knowledge.ts";
import { vendorHeaders } from "./conversation.ts";
import { conversationElsewhere, linkedAnswer } from "./linked-answers.ts";
import { responsesRefusals } from "./refusals.ts";
import type { ResponseServices } from "./response-services.ts";

/** POST /responses/compact: the model that continues a conversation shortens it, in a form that only its vendor can read. */
export const responsesCompact = (services: ResponseServices): Surface => ({
  ...responsesRefusals,
  namesFiles: "responses",
  async read(call, body) {
    const inbound = readResponsesInput(body ?? new Uint8Array(0));
    if ("fields" in inbound) return invalidRequest(inbound.fields);
    if (inbound.stream) return invalidRequest([{ field: "stream", message: "must not be set here: the answer is given whole" }]);
    const elsewhere = conversationElsewhere(inbound);
    if (elsewhere !== null) return elsewhere;
    const previous = await linkedAnswer(call, services, inbound);
    if (previous !== null && isRefusal(previous)) return previous;
    const knowledge = requestedKnowledge(inbound);
    if (isRefusal(knowledge)) return knowledge;
    const conversation = {
      inbound,
      caller: responsesCodec,
      passing: {
        operation: "responses_compact" as const,
        stream: () => new ResponsesStream(),
        reply: (bytes: Uint8Array, sealed: NoteSeals) => readResponsesReply(bytes, ({ output }) => sealed(sealsIn(output))),
      },
      writer: null,
      streamType: "text/event-stream",
      includeUsage: true,
      headers: vendorHeaders(call, ["openai-beta", "idempotency-key"]),
      statefulFields: statefulFields(inbound.body),
      ...(previous !== null && { previous }),
    };
    return {
      view: new InboundView(inbound, ["responses", "chat"]),
      conversation,
      async answer(called) {
        const answer = await services.models.compact(called, conversation);
        if (!isRefusal(answer) && answer.status < 300) answer.headers["x-gw-ai-generated"] = "true";
        return answer;
      },
    };
  },
});
