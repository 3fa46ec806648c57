import { expect, test } from "bun:test";
import { toolCalled } from "../../../tests/support/tool-servers/tool-request.ts";
import { refuse } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import { toolView } from "../../services/tools/tool-view.ts";
import { readRpc, type RpcMessage } from "../../wire/mcp/rpc.ts";
import type { SemanticEnforcement } from "./semantic-enforcement.ts";
import { SemanticPolicies } from "./semantic-policies.ts";

async function decided(text: string, code: Parameters<typeof refuse>[0]) {
  const enforcement = { policiesOf: () => [{}], apply: async () => refuse(code) } as unknown as SemanticEnforcement;
  const message = readRpc(new TextEncoder().encode(text)) as RpcMessage;
  const call = { audit: { proxySubtype: "mcp_jsonrpc" }, row: {}, requestContent: text } as unknown as Call;
  const { kind } = await new SemanticPolicies(enforcement, 1).decide(call, toolView({ ...toolCalled("{}"), message }));
  return { kind, sent: message.document.text(), call };
}

const ANSWER = '{"jsonrpc":"2.0","id":7,"result":{"action":"accept","content":{"a":"b"}}}';

test("a tool server gets an error in place of a blocked answer that it waits for", async () => {
  const { kind, sent, call } = await decided(ANSWER, "semantic_policy_block");
  expect(kind).toBe("pass");
  expect(JSON.parse(sent)).toEqual({ jsonrpc: "2.0", id: 7, error: { code: 4031, message: expect.any(String) } });
  expect(call.row.tags).toEqual(["answer_withheld"]);
  expect(call.requestContent).toBe(sent);
});

test("a blocked request is refused, and so is an answer whose caller has disconnected", async () => {
  const request = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"b":"c"}}}';
  expect((await decided(request, "semantic_policy_block")).kind).toBe("refuse");
  expect(await decided(ANSWER, "upstream_interrupted")).toMatchObject({ kind: "refuse", sent: ANSWER });
});
