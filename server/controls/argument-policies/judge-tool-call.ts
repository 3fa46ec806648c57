import type { PolicyHit } from "../../directory/policies/argument-policy-entry.ts";
import { toolSpelling } from "../../kernel/text/folded-name.ts";
import type { InTurns, WorkBudget } from "../../kernel/scheduling/in-turns.ts";
import type { GroupScope } from "../../directory/snapshot.ts";

/** What the policies of a group say of one tool call. */
export interface ToolCallJudgement {
  /** Whether any policy is on the tool. */
  readonly judged: boolean;
  /** The call may not reach whoever would carry it out. */
  readonly denied: PolicyHit | null;
  readonly warnings: readonly PolicyHit[];
}

/** Characters of a call's arguments that are judged; a call with more is denied. */
export const LONGEST_ARGUMENTS = 256 * 1024;

export const TOO_LONG = `The arguments are longer than ${LONGEST_ARGUMENTS} characters.`;

const NOT_JUDGED: ToolCallJudgement = { judged: false, denied: null, warnings: [] };

/**
 * Judges a tool call by the policies of a group, whoever made it and on whatever surface. `openAiToolName` is the name by which
 * callers know the tool; `argumentsText` is the JSON text of its arguments as it was written, or null where nobody can
 * have one, with `why` in its place. Never throws: what cannot be judged is spoken against.
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
    typeof argumentsText !== "string" ? argumentsText.unreadable : argumentsText.length > LONGEST_ARGUMENTS ? TOO_LONG : null;
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
