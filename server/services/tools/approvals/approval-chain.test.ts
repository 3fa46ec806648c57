import { expect, test } from "bun:test";
import { secretBox } from "../../../kernel/secrets.ts";
import { toolCalled } from "../../../../tests/support/tool-servers/tool-request.ts";
import type { Call } from "../../../road/call.ts";
import { continuedApproval, approvalSealer } from "./approval-chain.ts";
import type { ToolParts } from "../tool-parts.ts";
import type { ToolRequest } from "../tool-request.ts";

let now = 1_000_000;
// No database: invalid state must be refused before any lookup.
const parts = { secrets: secretBox(new Uint8Array(32).fill(7)), clock: { now: () => now } } as unknown as ToolParts;
const definition = async () => "";
const call = { id: "call-1", identity: { tenantId: "t" } } as unknown as Call;

function bringing(requestState: string): ToolRequest {
  return toolCalled(JSON.stringify({ name: "tool", requestState }));
}

function stateOf(owner: string): string {
  const answer = approvalSealer(
    call,
    owner,
    "approval-1",
    60,
    parts,
  )('{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required"}}', { resultType: "input_required" });
  return JSON.parse(answer ?? "").result.requestState;
}

test("the request state of an approval is valid until the approval expires, and for its owner only", async () => {
  const state = stateOf("owner");
  expect(await continuedApproval(call, bringing(state), "another", definition, parts)).toBeNull();
  now += 60_000;
  expect(await continuedApproval(call, bringing(state), "owner", definition, parts)).toBe("over");
});

test("an answer that requires no input stays unchanged", () => {
  expect(approvalSealer(call, "owner", "approval-1", 60, parts)('{"result":{"content":[]}}', { content: [] })).toBeNull();
});
