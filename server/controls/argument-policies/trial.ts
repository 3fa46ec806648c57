import type { ArgumentPolicy, ArgumentPolicyTrialResult } from "@gatehouse/contracts/argument-policies";
import { inTurns } from "../../kernel/scheduling/in-turns.ts";
import { ContentWork } from "../../road/policy/content-work.ts";
import { compilePolicy } from "./compile-policy.ts";
import { MAX_ARGUMENTS_LENGTH, TOO_LONG } from "./judge-tool-call.ts";
import { writtenPolicy } from "./stored-policy.ts";

/** Evaluates a policy on the JSON text of a tool call's arguments, without a call. */
export async function tryArgumentPolicy(record: ArgumentPolicy, argumentsText: string): Promise<ArgumentPolicyTrialResult> {
  const made = compilePolicy(writtenPolicy(record));
  if (!made.ok) return { action: record.severity, rule: "unparseable", message: "The policy on this tool cannot be read." };
  const { policy } = made;
  await policy.prepare();
  const work = new ContentWork();
  work.grant(argumentsText.length);
  const hit =
    argumentsText.length > MAX_ARGUMENTS_LENGTH ? policy.unjudged(TOO_LONG) : await inTurns(policy.judge(argumentsText, work), work);
  return hit === null ? { action: "none", rule: null, message: null } : { action: hit.severity, rule: hit.rule, message: hit.message };
}
