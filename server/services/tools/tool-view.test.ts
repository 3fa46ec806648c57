import { expect, test } from "bun:test";
import { toolCalled } from "../../../tests/support/tool-servers/tool-request.ts";
import { readRpc, type RpcMessage } from "../../wire/mcp/rpc.ts";
import { toolView } from "./tool-view.ts";

function read(params: string) {
  const request = toolCalled(params);
  return { message: request.message, view: toolView(request) };
}

test("what a control changes leaves every digit of the numbers beside it", () => {
  const { message, view } = read(
    '{"name":"pay","arguments":{"to":"joe@example.com","__proto__":{"x":1e400},"account":12345678901234567890,"list":[{"rate":0.10000000000000000001},"joe@example.com"],"plain":1.5}}',
  );
  for (const slot of view.texts()) if (slot.text === "joe@example.com") slot.replace("[EMAIL]");
  expect(message.document.text()).toBe(
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{"to":"[EMAIL]","__proto__":{"x":1e400},"account":12345678901234567890,"list":[{"rate":0.10000000000000000001},"[EMAIL]"],"plain":1.5}}}',
  );
});

test("a number that was changed itself is written as it is now, and so is one under another name", () => {
  const { message, view } = read(
    '{"name":"pay","arguments":{"joe@example.com":4111111111111111,"card":4111111111111111,"account":12345678901234567890}}',
  );
  for (const slot of view.texts()) if (slot.text === "4111111111111111") slot.replace("[CARD]");
  for (const slot of view.texts()) if (slot.text === "joe@example.com") slot.replace("[EMAIL]");
  expect(message.document.memberText("params")).toBe(
    '{"name":"pay","arguments":{"card":"[CARD]","account":12345678901234567890,"[EMAIL]":"[CARD]"}}',
  );
});

test("members whose names are replaced alike all reach the server", () => {
  const { message, view } = read('{"name":"pay","arguments":{"joe@example.com":1,"ann@example.com":2,"[EMAIL]":3}}');
  for (const slot of view.texts()) if (slot.text.includes("@")) slot.replace("[EMAIL]");
  expect(message.document.memberText("params")).toBe('{"name":"pay","arguments":{"[EMAIL]":3,"[EMAIL] 2":1,"[EMAIL] 3":2}}');
});

test("a whole number of more digits than a number keeps is looked at with all of them", () => {
  const { message, view } = read(
    '{"name":"pay","arguments":{"cards":[4539148803436467008,{"of":4539148803436467008}],"rate":4539148803436467008.5,"account":12345678901234567890}}',
  );
  const texts = view.texts();
  expect(texts.map(({ text }) => text)).toEqual([
    "pay",
    "4539148803436467008",
    "4539148803436467008",
    "of",
    "cards",
    "rate",
    "12345678901234567890",
    "account",
  ]);
  for (const slot of texts) if (slot.text === "4539148803436467008") slot.replace("[CARD]");
  expect(message.document.memberText("params")).toBe(
    '{"name":"pay","arguments":{"cards":["[CARD]",{"of":"[CARD]"}],"rate":4539148803436467008.5,"account":12345678901234567890}}',
  );
});

test("what stands beside the arguments of a call is looked at as they are, and of the protocol's own what is no handle", () => {
  const { message, view } = read(
    '{"name":"pay","note":"to joe","arguments":{"to":"Joe"},"task":{"ttl":1},"requestState":"s","_meta":{"a":"b"}}',
  );
  for (const slot of view.texts()) if (slot.text === "to joe") slot.replace("[WHO]");
  expect(view.texts().map(({ text }) => text)).toEqual(["pay", "[WHO]", "note", "Joe", "to", "b"]);
  expect(message.document.memberText("params")).toBe(
    '{"name":"pay","note":"[WHO]","arguments":{"to":"Joe"},"task":{"ttl":1},"requestState":"s","_meta":{"a":"b"}}',
  );
});

test("what a caller says of the task that a call is to run as is looked at", () => {
  const { message, view } = read('{"name":"pay","arguments":{},"task":{"ttl":60000,"note":"joe@example.com"}}');
  for (const slot of view.texts()) if (slot.text === "joe@example.com") slot.replace("[EMAIL]");
  expect(message.document.memberText("params")).toBe('{"name":"pay","arguments":{},"task":{"ttl":60000,"note":"[EMAIL]"}}');
});

function textsOf(method: string, params: object): string[] {
  const message = readRpc(new TextEncoder().encode(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }))) as RpcMessage;
  return toolView({ ...toolCalled("{}"), message })
    .texts()
    .map(({ text }) => text);
}

test("what a request asks for and what its sender says of itself is looked at, whatever it asks", () => {
  expect(textsOf("resources/read", { uri: "notes://joe%40example.com" })).toEqual(["notes://joe@example.com"]);
  expect(textsOf("prompts/list", { cursor: "c-1" })).toEqual([]);
  expect(textsOf("prompts/list", { cursor: "one two" })).toEqual(["one two"]);
  expect(textsOf("prompts/list", { cursor: { of: "one" } })).toEqual(["one", "of"]);
  expect(textsOf("initialize", { capabilities: { experimental: { "x/y": "one", "a b": {} } }, clientInfo: { name: "two" } })).toEqual([
    "one",
    "a b",
    "two",
  ]);
  expect(
    textsOf("completion/complete", { ref: { type: "ref/resource", uri: "x://one" }, argument: { name: "two", value: "three" } }),
  ).toEqual(["x://one", "two", "three"]);
  expect(textsOf("tools/list", { _meta: { progressToken: "p", traceparent: "00-1-2-03", note: "one" } })).toEqual(["one"]);
  expect(textsOf("subscriptions/listen", { notifications: { resourceSubscriptions: ["x://one"], toolsListChanged: true } })).toEqual([
    "x://one",
  ]);
  expect(textsOf("notifications/cancelled", { requestId: "r", reason: "one" })).toEqual(["one"]);
  expect(textsOf("notifications/progress", { progressToken: "p", progress: 1, message: "one" })).toEqual(["one"]);
  expect(textsOf("x/one", { inputResponses: "two" })).toEqual(["x/one", "two"]);
});
