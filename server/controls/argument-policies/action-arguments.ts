import { type InTurns, inTurns } from "../../kernel/scheduling/in-turns.ts";
import { type Action, ACTION_PASSES, type ActionDecision } from "../../road/action.ts";
import type { Call } from "../../road/call.ts";
import { contentWorkOf } from "../../road/policy/content-work.ts";
import type { ActionControl } from "../../road/control.ts";
import { governToolCall } from "./govern-tool-call.ts";

/** Checks an action against the policies on its tool, under both the upstream's and the caller's name for it. */
export const actionArguments: ActionControl = {
  name: "argument policies",
  before: (call, action) => inTurns(judgedAction(call, action), contentWorkOf(call)),
};

function* judgedAction(call: Call, { name, alias, arguments: given }: Action): InTurns<ActionDecision> {
  for (const one of new Set([name, alias])) {
    const refusal = yield* governToolCall(call, one, given);
    if (refusal !== null) return { kind: "refuse", refusal };
  }
  return ACTION_PASSES;
}
