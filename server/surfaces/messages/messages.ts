import type { Dispatch } from "../../services/models/dispatch.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import type { Call } from "../../road/call.ts";
import type { Conversation } from "../../road/request/conversation.ts";
import type { Surface } from "../../road/surface.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { messagesCodec } from "../../wire/messages/messages-codec.ts";
import { readMessagesReply } from "../../wire/messages/messages-reply.ts";
import { versionProblems, type MessagesRequest, readMessagesRequest } from "../../wire/messages/messages-request.ts";
import { MESSAGES_VERSION } from "../../wire/messages/messages-version.ts";
import { MessagesStream } from "../../wire/messages/messages-stream.ts";
import { conversationExchange, vendorHeaders } from "../llm/conversation.ts";
import { messagesRefusals } from "./refusals.ts";

/** POST /v1/messages: the native messages API, plain and streamed (interface 4.3). */
export const messages = (models: Dispatch): Surface => ({
  ...messagesRefusals,
  namesFiles: "messages",
  read(call, body) {
    const inbound = readInbound(call, body, { maxTokensRequired: true });
    if (isRefusal(inbound)) return inbound;
    return conversationExchange(
      models,
      {
        inbound,
        caller: messagesCodec,
        passing: { stream: () => new MessagesStream(), reply: readMessagesReply },
        writer: null,
        streamType: "text/event-stream",
        includeUsage: true,
        headers: vendorHeaders(call, ["anthropic-version", "anthropic-beta"]),
        query: vendorQuery(call),
        ...threadFields(inbound.body),
      },
      ["chat", "responses"],
      { "request-id": call.id },
    );
  },
});

/** A thread is state at the vendor, which accepts instructions only when a thread begins, not when it continues. */
function threadFields({ thread }: JsonObject): Pick<Conversation, "statefulFields" | "instructedBy"> {
  if (thread === undefined || thread === null) return { statefulFields: [] };
  return { statefulFields: ["thread"], ...(isObject(thread) && thread.type === "continue" ? { instructedBy: "thread" } : {}) };
}

/** `?beta=true`, with which the vendor's clients request beta features. */
export function vendorQuery({ url }: Call): string {
  if (!url.includes("beta=")) return "";
  const beta = new URL(url).searchParams.get("beta");
  return beta === null || beta.length > 100 ? "" : `beta=${encodeURIComponent(beta)}`;
}

/** Reads the request of either path, validated against the version its caller uses. A caller without the vendor's SDK may name none. */
export function readInbound(call: Call, body: Uint8Array | null, options: { maxTokensRequired: boolean }): MessagesRequest | Refusal {
  const version = call.headers.get("anthropic-version") ?? MESSAGES_VERSION;
  const inbound = readMessagesRequest(body ?? new Uint8Array(0), { ...options, version });
  if ("fields" in inbound) return invalidRequest(inbound.fields);
  const problems = versionProblems(inbound.body, version);
  return problems.length > 0 ? refuse("invalid_body", undefined, { fields: problems }) : inbound;
}
