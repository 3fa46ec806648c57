import type { Conversation } from "../../road/request/conversation.ts";
import type { ModelQuestion } from "../../road/own-calls/model-question.ts";
import { chatCodec } from "../../wire/openai/chat/codec.ts";
import { readChatReply } from "../../wire/openai/chat/reply.ts";
import type { ChatRequest } from "../../wire/openai/chat/request.ts";
import { ChatStream } from "../../wire/openai/chat/stream.ts";
import type { AttemptParts } from "./routing/attempt.ts";
import { maxTokensNameOf } from "./requests/ceiling-name.ts";

export function questionBody(
  { model, messages, outputTokens, temperature, schema }: ModelQuestion,
  providers: AttemptParts["providers"],
): object {
  return {
    model: model.name,
    messages,
    ...(temperature === null ? {} : { temperature }),
    ...(outputTokens === null ? {} : { [maxTokensNameOf(model, providers)]: outputTokens }),
    ...(schema === null
      ? {}
      : { response_format: { type: "json_schema", json_schema: { name: schema.name, strict: true, schema: schema.schema } } }),
  };
}

export function conversationOf(inbound: ChatRequest): Conversation {
  return {
    inbound,
    caller: chatCodec,
    passing: { stream: () => new ChatStream({ hideUsage: true }), reply: readChatReply },
    writer: null,
    streamType: "text/event-stream",
    includeUsage: false,
    headers: {},
    statefulFields: [],
  };
}
