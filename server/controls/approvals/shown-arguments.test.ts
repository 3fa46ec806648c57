import { expect, test } from "bun:test";
import { hash } from "node:crypto";
import { cpuMs } from "../../../tests/support/processes/cpu-time.ts";
import { shownArguments } from "./shown-arguments.ts";

const file = Buffer.alloc(300_000, 0xff);
const base64 = file.toString("base64");
const digest = hash("sha256", file, "hex");
const note = `(base64 of 300000 bytes, SHA-256 ${digest})`;

test("what can be looked through stays as it was sent, files and all", () => {
  const json = `{ "file": "${base64.slice(0, 200_000)}", "n": 1.00 }`;
  expect(shownArguments(json)).toEqual({ text: json, digested: [] });
});

test.each([
  ["plain", base64, note],
  ["with escaped slashes", base64.replaceAll("/", "\\/"), note],
  ["in the alphabet of addresses", file.toString("base64url"), note.replace("base64", "base64url")],
  ["in an address", `data:text/html;base64,${base64}`, `data:text/html;base64,${note}`],
  ["in an address with escaped slashes", `data:text\\/html;base64,${base64}`, `data:text\\/html;base64,${note}`],
])("a file %s gives way to its digest, and all around it stays as it was sent", (_how, written, shown) => {
  expect(shownArguments(`{ "path":"a.bin", "file" : "${written}", "n": 1.00 }`)).toEqual({
    text: `{ "path":"a.bin", "file" : "${shown}", "n": 1.00 }`,
    digested: [{ bytes: 300_000, sha256: digest }],
  });
});

test("what is shorter than the longest file stays as it was sent, where there is room for it", () => {
  const script = Buffer.from("rm -rf / ".repeat(600)).toString("base64");
  expect(shownArguments(`["${script}","${base64}","${script}"]`)?.text).toBe(`["${script}","${note}","${script}"]`);
});

test.each([
  ["words", "read me ".repeat(40_000)],
  ["what follows a quote within a text", `say \\"${base64}`],
  ["escapes that are no slash", `\\u0041${base64}`],
  ["lines", `${base64}\\nrm`],
  ["two alphabets in one, of which readers make different bytes,", Buffer.alloc(300_000, 0xfb).toString("base64").replace("+", "-")],
  ["groups of letters that stand for no whole bytes,", `${base64}A`],
])("%s are to be read, so nobody is asked", (_what, written) => {
  expect(shownArguments(`{"text":"${written}"}`)).toBeNull();
});

test("a string without an end costs no more than its length", () => {
  const from = cpuMs();
  expect(shownArguments(`["${"A\\/".repeat(10_000_000)}`)).toBeNull();
  expect(cpuMs(from)).toBeLessThan(5_000);
});
