import type { Dispatch } from "../../services/models/dispatch.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import type { Surface } from "../../road/surface.ts";
import { completionsCodec } from "../../wire/completions/completions-codec.ts";
import { readCompletionsReply } from "../../wire/completions/completions-reply.ts";
import { readCompletionsRequest } from "../../wire/completions/completions-request.ts";
import { CompletionsStream } from "../../wire/completions/completions-stream.ts";
import { conversationExchange, vendorHeaders } from "./conversation.ts";
import { llmRefusals } from "./refusals.ts";

/** POST /completions: the legacy text completion (interface 4.2). */
export const completions = (models: Dispatch): Surface => ({
  ...llmRefusals,
  read(call, body) {
    const inbound = readCompletionsRequest(body ?? new Uint8Array(0));
    if ("fields" in inbound) return invalidRequest(inbound.fields);
    return conversationExchange(
      models,
      {
        inbound,
        caller: completionsCodec,
        passing: {
          stream: () =>
            new CompletionsStream({
              hideUsage: !inbound.includesUsage,
              choices: inbound.choices,
              echoed: inbound.choices * inbound.echoedCharacters,
            }),
          reply: (bytes) => readCompletionsReply(bytes, inbound.echoedCharacters),
        },
        writer: null,
        streamType: "text/event-stream",
        includeUsage: inbound.includesUsage,
        headers: vendorHeaders(call, ["openai-beta", "idempotency-key"]),
        statefulFields: [],
      },
      ["completion", "chat", "responses"],
    );
  },
});
