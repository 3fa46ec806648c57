import { continueApproval } from "../../../directory/tools/approvals.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { edited, memberText } from "../../../wire/mcp/rpc.ts";
import type { Call } from "../../../road/call.ts";
import { openState, sealState } from "../sessions/sealed-state.ts";
import type { ToolParts } from "../tool-parts.ts";
import type { ToolRequest } from "../tool-request.ts";

/**
 * An approved call that is asked for input is continued by another request: the same call again, with the answers. So
 * that the approval covers it, the state its caller is to bring back is sealed together with the approval and the call
 * it was last used by. Each such state continues one request, and only the very call that was approved.
 */

const PURPOSE = "mcp-approval";

type Parts = Pick<ToolParts, "db" | "secrets" | "clock">;

/** Seals the approval into an answer that asks for input, so that the retry is covered; null leaves any other answer as it is. */
export type SealApproval = (text: string, result: JsonObject) => string | null;

/** `owner`: the caller, server, tool and arguments the approval is good for. `seconds`: how long the caller has to come again. */
export function approvalSealer(call: Call, owner: string, approvalId: string, seconds: number, { secrets, clock }: Parts): SealApproval {
  return (text, result) => {
    if (result.resultType !== "input_required") return null;
    const value = { approval: approvalId, call: call.id, state: result.requestState ?? null, until: clock.now() + seconds * 1000 };
    return edited(text, {
      result: edited(memberText(text, "result") ?? "{}", { requestState: JSON.stringify(sealState(secrets, PURPOSE, owner, value)) }),
    });
  };
}

/**
 * The approval a request continues: its id, "over" when the state was used already, came too late or the tool takes
 * something else by now, null when the request brings no such state. The request is left with the state its server gave.
 */
export async function continuedApproval(
  call: Call,
  { message }: ToolRequest,
  owner: string,
  definition: () => Promise<string>,
  parts: Parts,
): Promise<string | "over" | null> {
  const given = message?.params.requestState;
  if (message === null || typeof given !== "string") return null;
  const value = openState(parts.secrets, PURPOSE, owner, given);
  if (value === null) return null;
  if (typeof value.approval !== "string" || typeof value.call !== "string" || !(Number(value.until) > parts.clock.now())) return "over";
  if (
    !(await continueApproval(parts, {
      tenantId: call.identity?.tenantId ?? "",
      id: value.approval,
      from: value.call,
      to: call.id,
      definitionDigest: await definition(),
    }))
  )
    return "over";
  // The other members keep the spelling they came in.
  message.document.respell(
    "params",
    edited(message.document.memberText("params") ?? "{}", { requestState: value.state == null ? null : JSON.stringify(value.state) }),
  );
  if (value.state == null) delete message.params.requestState;
  else message.params.requestState = value.state;
  return value.approval;
}
