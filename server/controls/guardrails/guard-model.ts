import type { ModelEntry, TenantSnapshot } from "../../directory/snapshot.ts";
import { CLEAR, type Engine, type EngineVerdict, failed } from "../../wire/guardrail-engine.ts";
import type { Call } from "../../road/call.ts";
import type { AskModel } from "../../road/own-calls/model-question.ts";

/** Most characters sent at once to any model, also to one with an unknown context window. */
const MAX_LENGTH = 12_000;
/** Sized for classifiers with a window of 512 tokens; a token has about three characters in any language. */
const CHARACTERS_A_TOKEN = 3;
const MAX_TOKENS = 64;

/**
 * A model of the gateway that classifies text, asked in a nested call with its own row. The type is recognised from
 * its answer: `safe` or `unsafe` (Llama Guard), yes or no (ShieldGemma), a label or score (Prompt Guard).
 */
export function guardModel(ask: AskModel, call: Call, named: string | null): Engine {
  const model = call.scope === null || named === null ? null : modelOf(call.scope.tenant, named);
  return {
    longest: model?.contextWindow == null ? MAX_LENGTH : Math.max(1_000, Math.min(MAX_LENGTH, model.contextWindow * CHARACTERS_A_TOKEN)),
    async ask({ threshold }, { text, timeoutMs }) {
      if (model === null) return failed("the guard model is not there or switched off");
      const reply = await ask(call, {
        purpose: "guardrail_model",
        model,
        messages: [{ role: "user", content: text }],
        outputTokens: MAX_TOKENS,
        temperature: 0,
        schema: null,
        timeoutMs,
        waitMs: timeoutMs,
        // Hashes only: the text may yet be blocked, by this or another engine, and must not be kept then; an answer may quote it.
        hashesOnly: true,
        endsWithParent: true,
      });
      return reply.kind === "failed" ? failed(reply.reason) : readGuardVerdict(reply.text, threshold);
    },
  };
}

function modelOf(tenant: TenantSnapshot, named: string): ModelEntry | null {
  const model = tenant.modelsByName.get(named) ?? tenant.models.get(named);
  return model?.enabled === true ? model : null;
}

/** Answers that are a label and nothing else. */
const CLEARS = /^(?:safe|no|benign|label_0)\W*$/i;
const FINDS = /^(?:unsafe|yes|injection|malicious|label_1|jailbreak)\b/i;

/**
 * Parses a classifier's answer; anything but its known words is a failure. A chat reply ("No, I cannot help with
 * that") or a contradiction clears nothing.
 */
export function readGuardVerdict(content: string, threshold: number): EngineVerdict {
  const word = content.trim();
  const [first = "", ...lines] = word.split("\n").map((line) => line.trim());
  if (CLEARS.test(first) && !lines.some((line) => FINDS.test(line))) return CLEAR;
  if (/^(?:unsafe|yes)\b/i.test(word)) return { kind: "found", check: "toxic_content" };
  if (/^(?:injection|malicious|label_1)\b/i.test(word)) return { kind: "found", check: "prompt_injection" };
  if (/^jailbreak\b/i.test(word)) return { kind: "found", check: "jailbreak" };
  if (/^(?:0(?:\.\d+)?|1(?:\.0+)?)$/.test(word)) return Number(word) >= threshold ? { kind: "found", check: "prompt_injection" } : CLEAR;
  return failed("the guard model's answer is no verdict");
}
