import type { Dispatch } from "../../services/models/dispatch.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import type { Surface } from "../../road/surface.ts";
import { chatCodec } from "../../wire/openai/chat/codec.ts";
import { readChatReply } from "../../wire/openai/chat/reply.ts";
import { readChatRequest } from "../../wire/openai/chat/request.ts";
import { ChatStream } from "../../wire/openai/chat/stream.ts";
import { conversationExchange, vendorHeaders } from "./conversation.ts";
import { llmRefusals } from "./refusals.ts";
import { readSearchedReply, SearchedStream } from "./searched-chat.ts";

/** POST /chat/completions: plain and streamed, OpenAI's own shape both ways (interface 4.2). */
export const chatCompletions = (models: Dispatch): Surface => ({
  ...llmRefusals,
  namesFiles: "chat",
  read(call, body) {
    const inbound = readChatRequest(body ?? new Uint8Array(0));
    if ("fields" in inbound) return invalidRequest(inbound.fields);
    const streaming = () => ({ hideUsage: !inbound.includesUsage, choices: inbound.candidates });
    return conversationExchange(
      models,
      {
        inbound,
        caller: chatCodec,
        passing: {
          stream: () => (inbound.searchesWeb ? new SearchedStream(streaming(), inbound.inputCharacters) : new ChatStream(streaming())),
          reply: (bytes) => (inbound.searchesWeb ? readSearchedReply(bytes, inbound.inputCharacters) : readChatReply(bytes)),
        },
        writer: null,
        streamType: "text/event-stream",
        includeUsage: inbound.includesUsage,
        headers: vendorHeaders(call, ["openai-beta", "idempotency-key"]),
        statefulFields: [],
      },
      ["chat", "responses"],
    );
  },
});
