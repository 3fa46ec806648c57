import { continueApproval } from "../../../directory/tools/approvals.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { edited, memberText } from "../../../wire/mcp/rpc.ts";
import type { Call } from "../../../road/call.ts";
import { openState, sealState } from "../sessions/sealed-state.ts";
import type { ToolParts } from "../tool-parts.ts";
import type { ToolRequest } from "../tool-request.ts";

/**
 * The continuation of an approved call that asks its caller for input: the client repeats the call with the answers. The server's
 * `requestState` is sealed together with the approval and the ID of the last call, so that the approval covers the repeated call. Each
 * sealed state continues one request, and only the exact call that was approved.
 */

const PURPOSE = "mcp-approval";

type Parts = Pick<ToolParts, "db" | "secrets" | "clock">;

/**
 * Seals the approval into an answer that asks for input, so that the repeated call is covered. Returns null to leave any other answer
 * unchanged.
 */
export type SealApproval = (text: string, result: JsonObject) => string | null;

/** `owner`: the caller, server, tool and arguments that the approval covers. `seconds`: how long the caller may take to repeat the call. */
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
 * The approval that a request continues: its ID; "over" if the state was used before, has expired, or the tool's definition has changed;
 * null if the request carries no such state. Restores the server's own state in the request.
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
  // Edited as text, so that other members keep their exact spelling.
  message.document.respell(
    "params",
    edited(message.document.memberText("params") ?? "{}", { requestState: value.state == null ? null : JSON.stringify(value.state) }),
  );
  if (value.state == null) delete message.params.requestState;
  else message.params.requestState = value.state;
  return value.approval;
}
