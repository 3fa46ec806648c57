import type { PolicyHit } from "../../directory/policies/argument-policy-entry.ts";
import { toolSpelling } from "../../kernel/text/folded-name.ts";
import type { InTurns, WorkBudget } from "../../kernel/scheduling/in-turns.ts";
import type { GroupScope } from "../../directory/snapshot.ts";

/** The verdict of a group's policies on one tool call. */
export interface ToolCallJudgement {
  /** Whether any policy applies to the tool. */
  readonly judged: boolean;
  /** Set if the call must not reach whoever would execute it. */
  readonly denied: PolicyHit | null;
  readonly warnings: readonly PolicyHit[];
}

/** Most characters of arguments that are judged; longer ones are denied. */
export const MAX_ARGUMENTS_LENGTH = 256 * 1024;

export const TOO_LONG = `The arguments are longer than ${MAX_ARGUMENTS_LENGTH} characters.`;

const NOT_JUDGED: ToolCallJudgement = { judged: false, denied: null, warnings: [] };

/**
 * Judges a tool call by the policies of a group, on any surface. `openAiToolName` is the tool's name as callers know it; `argumentsText`
 * is the JSON text of its arguments as written, or why there is none. Never throws: what cannot be judged counts against the call.
 */
export function* judgeToolCall(
  scope: Pick<GroupScope, "toolCallPolicies">,
  toolName: string,
  argumentsText: string | { readonly unreadable: string },
  budget: WorkBudget,
): InTurns<ToolCallJudgement> {
  const policies = scope.toolCallPolicies.get(toolSpelling(toolName));
  if (policies === undefined) return NOT_JUDGED;
  const unreadable =
    typeof argumentsText !== "string" ? argumentsText.unreadable : argumentsText.length > MAX_ARGUMENTS_LENGTH ? TOO_LONG : null;
  const hits: PolicyHit[] = [];
  for (const policy of policies) {
    if (unreadable === null) budget.grant((argumentsText as string).length);
    const hit = unreadable !== null ? policy.unjudged(unreadable) : yield* policy.judge(argumentsText as string, budget);
    if (hit !== null) hits.push(hit);
  }
  return {
    judged: true,
    denied: hits.find(({ severity }) => severity === "deny") ?? null,
    warnings: hits.filter(({ severity }) => severity === "warn"),
  };
}
