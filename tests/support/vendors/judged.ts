import type { PolicyHit, ToolCallPolicy } from "../../../server/directory/policies/argument-policy-entry.ts";
import { runToEnd } from "../../../server/kernel/scheduling/in-turns.ts";
import { ContentWork } from "../../../server/road/policy/content-work.ts";

/** A policy's verdict on arguments, computed without yielding. */
export function judged(policy: Pick<ToolCallPolicy, "judge"> | undefined, argumentsText: string): PolicyHit | null {
  if (policy === undefined) throw new Error("there is no policy");
  return runToEnd(policy.judge(argumentsText, new ContentWork()));
}
