import { refuse } from "../../../kernel/errors.ts";
import type { Call } from "../../../road/call.ts";
import type { ToolTarget } from "../../../road/target.ts";
import { isObject, type JsonObject } from "../../../kernel/json-value.ts";
import { answers, readUpstreamRpc } from "../../../wire/mcp/rpc.ts";
import { answerGate, answersContent, definitionsIn, messageGate } from "./answer-gate.ts";
import type { SealApproval } from "../approvals/approval-chain.ts";
import type { JudgeAnswer } from "./judged-stream.ts";
import { offeredToolsText } from "../definitions/offered-tools.ts";
import { isConnecting, guardedInstructionsText } from "../definitions/guarded-instructions.ts";
import type { ToolParts } from "../tool-parts.ts";
import type { ToolRequest } from "../tool-request.ts";

/**
 * Creates the judge for a server's answers to one request. On a resumed stream, or one without a request, the method is unknown, so an
 * answer must pass all checks that apply to any method. `client`: the client's capabilities.
 */
export function answerJudge(
  call: Call,
  request: ToolRequest,
  target: ToolTarget,
  parts: ToolParts,
  client: JsonObject | null,
  carryOn: SealApproval | null,
): JudgeAnswer {
  const own = request.message?.kind === "request" ? request.message : null;
  const judgeContent: JudgeAnswer = async ({ text, value: { result } }) => {
    const verdict = await answerGate(call, target, text, result, parts);
    if ((typeof verdict !== "string" && verdict !== null) || !isObject(result)) return verdict;
    return carryOn?.(verdict ?? text, result) ?? verdict;
  };
  return async (answer) => {
    const { result } = answer.value;
    if (own === null) {
      if (result === undefined) return messageGate(call, answer.text, parts);
      let text = answer.text;
      const now = () => ({ text, value: text === answer.text ? answer.value : (readUpstreamRpc(text) ?? {}) });
      if (isObject(result) && Array.isArray(result.tools)) text = (await offeredToolsText(call, target, now(), client, parts)) ?? text;
      text = (await guardedInstructionsText(call, now(), parts)) ?? text;
      return (await judgeContent(now())) ?? (text === answer.text ? null : text);
    }
    if (result === undefined) return messageGate(call, answer.text, parts);
    // Clients match answers by ID, whichever stream they arrive on, so an answer to another request is refused.
    if (!answers(answer.value, own.id) && String(answer.value.id) !== String(own.id))
      return refuse("upstream_invalid_response", "The tool server's answer is one to another request.");
    if (answersContent(request)) return judgeContent(answer);
    const offered =
      own.method === "tools/list"
        ? await offeredToolsText(call, target, answer, client, parts)
        : isConnecting(own.method)
          ? await guardedInstructionsText(call, answer, parts)
          : null;
    return (await messageGate(call, offered ?? answer.text, parts, definitionsIn(own.method))) ?? offered;
  };
}
