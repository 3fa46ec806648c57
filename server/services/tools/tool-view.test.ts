import { expect, test } from "bun:test";
import { toolCalled } from "../../../tests/support/tool-servers/tool-request.ts";
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

test("what stands beside the arguments of a call is looked at as they are, and the protocol's own is not", () => {
  const { message, view } = read(
    '{"name":"pay","note":"to joe","arguments":{"to":"Joe"},"task":{"ttl":1},"requestState":"s","_meta":{"a":"b"}}',
  );
  for (const slot of view.texts()) if (slot.text === "to joe") slot.replace("[WHO]");
  expect(view.texts().map(({ text }) => text)).toEqual(["[WHO]", "note", "Joe", "to"]);
  expect(message.document.memberText("params")).toBe(
    '{"name":"pay","note":"[WHO]","arguments":{"to":"Joe"},"task":{"ttl":1},"requestState":"s","_meta":{"a":"b"}}',
  );
});

test("what a caller says of the task that a call is to run as is looked at", () => {
  const { message, view } = read('{"name":"pay","arguments":{},"task":{"ttl":60000,"note":"joe@example.com"}}');
  for (const slot of view.texts()) if (slot.text === "joe@example.com") slot.replace("[EMAIL]");
  expect(message.document.memberText("params")).toBe('{"name":"pay","arguments":{},"task":{"ttl":60000,"note":"[EMAIL]"}}');
});
