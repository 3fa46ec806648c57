import { expect, test } from "bun:test";
import { mayBeRpc } from "./may-be-rpc.ts";

const ESCAPED = String.raw`{"\u006a\u0053\u006F\u006e\u0052p\u0043":"2.0"}`;

test.each([
  ["plainly", Buffer.from('{"jsonrpc":"2.0"}')],
  ["in capitals", Buffer.from('{"JSONRPC":"2.0"}')],
  ["with escapes", Buffer.from(ESCAPED)],
  ["in UTF-16", Buffer.from('\uFEFF{"jsonrpc":"2.0"}', "utf16le")],
  ["with escapes in UTF-16", Buffer.from(ESCAPED, "utf16le")],
  ["in UTF-32", Buffer.from([..."jsonrpc"].map((letter) => `\0\0\0${letter}`).join(""))],
  [
    "after megabytes of other bytes",
    Buffer.concat([Buffer.alloc(8_000_000), Buffer.from(String.raw`\u00e9`.repeat(1_000_000)), Buffer.from("jsonrpc")]),
  ],
])('the name "jsonrpc" spelled %s is recognized', (_name, body) => {
  expect(mayBeRpc(body)).toBe(true);
});

test.each([
  ["an empty body", ""],
  ["a part of the name", "jsonrp"],
  ["other escapes", String.raw`\u006a\u0073\u006f\u006e\u0072\u0070\u0064`],
  ["the name with a hyphen", "json-rpc"],
])('%s is not recognized as the name "jsonrpc"', (_name, text) => {
  expect(mayBeRpc(Buffer.from(text))).toBe(false);
});

test("only the given bytes are searched, not the rest of their buffer", () => {
  expect(mayBeRpc(Buffer.from("jsonrpc, a note").subarray(7))).toBe(false);
});
