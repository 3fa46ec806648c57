import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { AnswerControl } from "../../road/control.ts";
import { outputFormOf } from "../../road/output/answer-formats.ts";
import { toolCallsMade, upToToolCallCap } from "../../road/output/counted-calls.ts";
import { governanceOf } from "../../road/policy/parameter-governance.ts";
import { modelOf } from "../../road/target.ts";

/** Caps the tool calls of one answer (interface 8.3); calls beyond the cap never reach the caller. */
export const toolCallCap: AnswerControl = {
  name: "tool call cap",
  prepare(call, { conversation }) {
    const model = modelOf(call);
    if (conversation === undefined || model === null || call.scope === null) return null;
    const { maxToolCalls } = governanceOf(call, model);
    if (maxToolCalls === null) return null;
    const form = outputFormOf(conversation);
    const allowed = (made: number) => (made > maxToolCalls ? tooMany(maxToolCalls) : null);
    return (answer) => {
      if (answer.status >= 300) return answer;
      if (answer.kind === "stream") return upToToolCallCap(call, form, answer, allowed);
      const made = toolCallsMade(form, answer.body);
      return made === null ? refuse("upstream_invalid_response") : (allowed(made) ?? answer);
    };
  },
};

function tooMany(most: number): Refusal {
  return refuse("tool_call_limit_exceeded", `The model made more than ${most} tool ${most === 1 ? "call" : "calls"} in one answer.`);
}
