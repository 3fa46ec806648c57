import { expect, test } from "bun:test";
import { hash } from "node:crypto";
import { cpuMs } from "../../../tests/support/processes/cpu-time.ts";
import { shownArguments } from "./shown-arguments.ts";

const file = Buffer.alloc(300_000, 0xff);
const base64 = file.toString("base64");
const digest = hash("sha256", file, "hex");
const note = `(base64 of 300000 bytes, SHA-256 ${digest})`;

test("reviewable arguments are shown as sent, base64 files included", () => {
  const json = `{ "file": "${base64.slice(0, 200_000)}", "n": 1.00 }`;
  expect(shownArguments(json)).toEqual({ text: json, digested: [] });
});

test.each([
  ["plain", base64, note],
  ["with escaped slashes", base64.replaceAll("/", "\\/"), note],
  ["in the URL-safe alphabet", file.toString("base64url"), note.replace("base64", "base64url")],
  ["in a data URL", `data:text/html;base64,${base64}`, `data:text/html;base64,${note}`],
  ["in a data URL with escaped slashes", `data:text\\/html;base64,${base64}`, `data:text\\/html;base64,${note}`],
])("a large base64 file %s is shown as its digest, and everything around it as sent", (_how, written, shown) => {
  expect(shownArguments(`{ "path":"a.bin", "file" : "${written}", "n": 1.00 }`)).toEqual({
    text: `{ "path":"a.bin", "file" : "${shown}", "n": 1.00 }`,
    digested: [{ bytes: 300_000, sha256: digest }],
  });
});

test("base64 values shorter than the largest one are shown as sent where there is room", () => {
  const script = Buffer.from("rm -rf / ".repeat(600)).toString("base64");
  expect(shownArguments(`["${script}","${base64}","${script}"]`)?.text).toBe(`["${script}","${note}","${script}"]`);
});

test.each([
  ["words", "read me ".repeat(40_000)],
  ["characters after a quote within a string", `say \\"${base64}`],
  ["escapes other than a slash", `\\u0041${base64}`],
  ["lines", `${base64}\\nrm`],
  [
    "values that mix two base64 alphabets, which decoders read differently,",
    Buffer.alloc(300_000, 0xfb).toString("base64").replace("+", "-"),
  ],
  ["base64 groups that do not decode to whole bytes,", `${base64}A`],
])("%s must be read by the approver, so they are not shown as a digest", (_what, written) => {
  expect(shownArguments(`{"text":"${written}"}`)).toBeNull();
});

test("an unterminated string is read in linear time", () => {
  const from = cpuMs();
  expect(shownArguments(`["${"A\\/".repeat(10_000_000)}`)).toBeNull();
  expect(cpuMs(from)).toBeLessThan(5_000);
});
