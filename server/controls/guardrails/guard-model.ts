import type { ModelEntry, TenantSnapshot } from "../../directory/snapshot.ts";
import { CLEAR, type Engine, type EngineVerdict, failed } from "../../wire/guardrail-engine.ts";
import { chatCodec } from "../../wire/openai/chat-codec.ts";
import { readChatReply } from "../../wire/openai/chat-reply.ts";
import { readChatRequest } from "../../wire/openai/chat-request.ts";
import { ChatStream } from "../../wire/openai/chat-stream.ts";
import { readWhole } from "../../road/answers/caller-answer.ts";
import type { Call } from "../../road/call.ts";
import type { Nest } from "../../road/nested-call.ts";
import type { Conversation } from "../../road/conversation.ts";
import { isRefusal } from "../../kernel/errors.ts";

/** What a model of unknown size is given at once, and no model more. */
const LONGEST = 12_000;
/** Of classifiers with a window of 512 tokens; about three characters a token are left for any language. */
const CHARACTERS_A_TOKEN = 3;
const MOST_TOKENS = 64;

const encoder = new TextEncoder();

/**
 * A model of the gateway's own that classifies what it is told, asked by a nested call with a row of its own. It is known
 * by its answer: `safe` or `unsafe` (Llama Guard), yes or no to harm (ShieldGemma), a label or a score (Prompt Guard).
 */
export function guardModel(nest: Nest, call: Call, named: string | null): Engine {
  const model = call.scope === null || named === null ? null : modelOf(call.scope.tenant, named);
  return {
    longest: model?.contextWindow == null ? LONGEST : Math.max(1_000, Math.min(LONGEST, model.contextWindow * CHARACTERS_A_TOKEN)),
    async ask({ threshold }, { text, timeoutMs }) {
      if (model === null) return failed("the guard model is not there or switched off");
      const body = encoder.encode(
        JSON.stringify({ model: model.name, messages: [{ role: "user", content: text }], max_tokens: MOST_TOKENS, temperature: 0 }),
      );
      const inbound = readChatRequest(body);
      if ("fields" in inbound) throw new Error("the gateway's own request to a guard model is not valid");
      const conversation: Conversation = {
        inbound,
        caller: chatCodec,
        passing: { stream: () => new ChatStream({ hideUsage: true }), reply: readChatReply },
        writer: null,
        streamType: "text/event-stream",
        includeUsage: false,
        headers: {},
        statefulFields: [],
      };
      const answer = await nest(call, {
        audit: { proxyType: "llm", proxySubtype: "guardrail_model" },
        path: "/v1/proxy/llm/chat/completions",
        model,
        body,
        outputTokens: MOST_TOKENS,
        timeoutMs,
        waitMs: timeoutMs,
        // What is blocked must not be kept, and another engine may yet block what this one lets pass. An answer may quote it.
        unkept: true,
        endsWithParent: true,
        send: (nested, dispatch) => dispatch.converse(nested, conversation),
      });
      if (isRefusal(answer)) return failed(answer.code);
      if (answer.failure !== null) return failed(answer.failure);
      const [candidate] = readWhole(conversation, answer.body)?.candidates ?? [];
      return verdictIn(candidate?.parts.map((part) => (part.kind === "text" ? part.text : "")).join("") ?? "", threshold);
    },
  };
}

function modelOf(tenant: TenantSnapshot, named: string): ModelEntry | null {
  const model = tenant.modelsByName.get(named) ?? tenant.models.get(named);
  return model?.enabled === true ? model : null;
}

/** What a classifier's answer says; anything but its own few words is no verdict. */
export function verdictIn(content: string, threshold: number): EngineVerdict {
  const word = content.trim();
  if (/^(?:safe|no|benign|label_0)\b/i.test(word)) return CLEAR;
  if (/^(?:unsafe|yes)\b/i.test(word)) return { kind: "found", check: "toxic_content" };
  if (/^(?:injection|malicious|label_1)\b/i.test(word)) return { kind: "found", check: "prompt_injection" };
  if (/^jailbreak\b/i.test(word)) return { kind: "found", check: "jailbreak" };
  if (/^(?:0(?:\.\d+)?|1(?:\.0+)?)$/.test(word)) return Number(word) >= threshold ? { kind: "found", check: "prompt_injection" } : CLEAR;
  return failed("the guard model's answer is no verdict");
}
