import { isRefusal, type Refusal } from "../../kernel/errors.ts";
import type { WholeAnswer } from "../../road/answer.ts";
import { readWhole } from "../../road/answers/caller-answer.ts";
import type { Call } from "../../road/call.ts";
import type { Conversation } from "../../road/request/conversation.ts";
import type { AskModel, ModelReply } from "../../road/own-calls/model-question.ts";
import type { MakeNestedCall } from "../../road/own-calls/nested-call.ts";
import { readChatRequest } from "../../wire/openai/chat/request.ts";
import type { AttemptParts } from "./routing/attempt.ts";
import type { Dispatch } from "./dispatch.ts";
import { conversationOf, questionBody } from "./question-body.ts";

const encoder = new TextEncoder();

/** Asks the gateway's own questions, as chat completions in nested calls. */
export function askModel(nest: MakeNestedCall, dispatch: Pick<Dispatch, "converse">, providers: AttemptParts["providers"]): AskModel {
  return async (parent, question) => {
    const body = encoder.encode(JSON.stringify(questionBody(question, providers)));
    const inbound = readChatRequest(body);
    if ("fields" in inbound) throw new Error("the gateway's own question to a model is not valid");
    const conversation = conversationOf(inbound);
    let reply = { kind: "failed", reason: "the model was not asked", unfit: false } as ModelReply;
    const answer = await nest(parent, {
      audit: { proxyType: "llm", proxySubtype: question.purpose },
      path: "/v1/proxy/llm/chat/completions",
      model: question.model,
      body,
      outputTokens: question.outputTokens,
      timeoutMs: question.timeoutMs,
      waitMs: question.waitMs,
      hashesOnly: question.hashesOnly,
      endsWithParent: question.endsWithParent,
      send: (call: Call) => dispatch.converse(call, conversation),
      settled(call, given) {
        reply = replyIn(conversation, given);
        question.settled?.(call, reply);
      },
    });
    // If the model's row could not be stored, its answer does not count.
    return isRefusal(answer) && reply.kind === "said" ? { kind: "failed", reason: answer.message, unfit: false } : reply;
  };
}

function replyIn(conversation: Conversation, answer: WholeAnswer | Refusal): ModelReply {
  if (isRefusal(answer)) return { kind: "failed", reason: answer.code, unfit: answer.code === "unsupported_parameter" };
  if (answer.failure !== null) return { kind: "failed", reason: answer.failure, unfit: answer.status === 400 || answer.status === 422 };
  const [candidate] = readWhole(conversation, answer.body)?.candidates ?? [];
  return { kind: "said", text: candidate?.parts.map((part) => (part.kind === "text" ? part.text : "")).join("") ?? "" };
}
