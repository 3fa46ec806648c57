import type { GuardrailSurface } from "@gatehouse/contracts/guardrails";
import type { SemanticPolicyEntry } from "../../directory/semantic-policies/policy-entry.ts";
import type { ModelEntry } from "../../directory/snapshot.ts";
import { sha256Hex } from "../../kernel/secrets.ts";
import type { Call } from "../../road/call.ts";

/** The text to be judged, and the call it belongs to. */
export interface JudgeQuestion {
  readonly call: Call;
  readonly policy: SemanticPolicyEntry;
  /** Where the text occurs. */
  readonly surface: GuardrailSurface;
  readonly text: string;
}

/** Cache key: equal for questions that share a verdict. */
export function judgeQuestionKey({ call, policy, surface, text }: JudgeQuestion, model: ModelEntry): string {
  return sha256Hex(
    JSON.stringify([
      call.scope?.tenant.id,
      policy.id,
      policy.constraintText,
      surface,
      model.id,
      model.modelName,
      model.provider.baseUrl,
      model.systemPrompt,
      text,
    ]),
  );
}
