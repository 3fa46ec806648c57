import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { InTurns } from "../../kernel/scheduling/in-turns.ts";
import type { Call } from "../../road/call.ts";
import { contentWorkOf } from "../../road/policy/content-work.ts";
import { warnCaller } from "../../road/policy/policy-warnings.ts";
import { addTag } from "../../road/record/add-tag.ts";
import { judgeToolCall, type ToolCallJudgement } from "./judge-tool-call.ts";

/**
 * Judges a tool call under the policies of the call's group and records the result on its row. Null lets it pass; a
 * refusal names the policy and has the policy's message.
 */
export function* governToolCall(call: Call, toolName: string, argumentsText: Parameters<typeof judgeToolCall>[2]): InTurns<Refusal | null> {
  if (call.scope === null) return null;
  const judgement = yield* judgeToolCall(call.scope, toolName, argumentsText, contentWorkOf(call));
  if (judgement.judged) note(call, judgement);
  if (judgement.denied === null) return null;
  const { message, policy, tool, argument_key } = judgement.denied;
  return refuse("argument_policy_denied", message, { extra: { policy, tool, argument_key } });
}

/** Records a denial as the row's policy, or else the first warning, and lists all hits. */
function note(call: Call, { denied, warnings }: ToolCallJudgement): void {
  const { row } = call;
  row.argument_policy_denied = denied !== null || row.argument_policy_denied === true;
  if (denied !== null) row.argument_policy_id = denied.policy_id;
  else if (warnings[0] !== undefined) row.argument_policy_id ??= warnings[0].policy_id;
  const hits = denied === null ? warnings : [...warnings, denied];
  if (hits.length === 0) return;
  const facts = (row.custom_metadata ?? {}) as { readonly argument_policies?: readonly object[] };
  const reportedHits = hits.map(({ policy_id, policy, tool, argument_key, severity, rule }) => ({
    policy_id,
    policy,
    tool,
    argument_key,
    severity,
    rule,
  }));
  row.custom_metadata = { ...facts, argument_policies: [...(facts.argument_policies ?? []), ...reportedHits].slice(0, MAX_REPORTED) };
  if (warnings.length > 0) addTag(call, WARNED);
  for (const { policy } of warnings) warnCaller(call, policy);
}

const MAX_REPORTED = 20;
const WARNED = "argument_policy_warned";
