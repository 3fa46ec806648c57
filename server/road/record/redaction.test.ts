import { describe, expect, test } from "bun:test";
import { redact } from "./redaction.ts";
import { cpuMs } from "../../../tests/support/processes/cpu-time.ts";

/** Escaped as some clients do: all non-ASCII characters, and those with a meaning in HTML. */
function asciiOf(json: string): string {
  return json.replace(/[^\0-;=?-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

describe("previews in redacted mode", () => {
  test.each([
    ['{"content":"mail ada.lovelace@example.co.uk now"}', '{"content":"mail [email] now"}'],
    ["card 4111 1111 1111 1111 please", "card [number] please"],
    ["call +49 (30) 1234-5678 today", "call [number] today"],
    ["ssn 123-45-6789.", "ssn [number]."],
    ['{"account":1763712000123,"at":"+1763712000"}', '{"account":[number],"at":"[number]"}'],
    ["to DE89 3704 0044 0532 0130 00 by noon", "to [iban] by noon"],
    [`key ${"sk-"}proj-abcdefghijklmnopqrstuvwx end`, "key [secret] end"],
    [
      '{"mcp_servers":[{"authorization_token" : "a \\" b","name":"n"}]}',
      '{"mcp_servers":[{"authorization_token" :"[secret]","name":"n"}]}',
    ],
    [
      '{"authorization":"one","headers":{"Authorization":"Bearer two","X-Api-Key":"three',
      '{"authorization":"[secret]","headers":{"Authorization":"[secret]","X-Api-Key":"[secret]"',
    ],
    [`id eyJhbGciOiJub25lIn0.${"eyJzdWIiOiJhZGEifQ".repeat(2)}.c2lnbmF0dXJl end`, "id [secret] end"],
    [
      `eyJub190b2tlbg eyJub3I.eyJub190b2tlbg x-eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl`,
      "eyJub190b2tlbg eyJub3I.eyJub190b2tlbg x-[secret]",
    ],
    [`token ghp_${"a".repeat(36)} end`, "token [secret] end"],
    ["-----BEGIN RSA PRIVATE KEY-----\\nMIIE\\n-----END RSA PRIVATE KEY-----", "[private_key]"],
  ])("%s", (text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  test.each([
    '{"created":1763712000,"id":"chatcmpl-0123456789abcdef"}',
    "at 1763712000 it was",
    "[1763712000]",
    "version 1.2.3 of 2026-11-21 took 1234 ms",
    "uuid 0b0e9d5e-7c1a-4f0e-9a53-2f6d1a7b8c9d",
    "a hash 9f86d081884c7d659a2feaa0c55ad015",
  ])("leave %s unchanged", (text) => {
    expect(redact(text)).toBe(text);
  });

  /** As a JSON string, and as a JSON string within JSON. */
  const within = (text: string) => JSON.stringify({ text });
  const twice = (text: string) => within(within(text));

  test.each([
    ["4111 1111 1111 1111", "[number]"],
    ["4111111111111111", "[number]"],
    ["0170 1234567", "[number]"],
    ["DE89 3704 0044 0532 0130 00", "[iban]"],
    ["bob@example.com", "[email]"],
    ["Jürgen.Müller@exämple.de", "[email]"],
    [`sk-${"proj-abcdefghijklmnopqrstuvwxyz"}`, "[secret]"],
    [`sk_gw_api_${"a".repeat(24)}`, "[secret]"],
    [`ghp_${"a".repeat(36)}`, "[secret]"],
    [`AKIA${"IOSFODNN7EXAMPLE"}`, "[secret]"],
    [`eyJhbGciOiJub25lIn0.${"eyJzdWIiOiJhZGEifQ"}.c2lnbmF0dXJl`, "[secret]"],
    [JSON.stringify({ authorization: 'Bearer a"b\\', name: "n" }), '{"authorization":"[secret]","name":"n"}'],
  ])("redact %s in JSON at the start and end of a line, and the rest stays valid JSON", (value, instead) => {
    for (const write of [within, twice])
      for (const [before, after] of [
        ["mine:\n", "\n"],
        ["a\t", "\tb"],
        ["<", ">"],
      ] as const)
        for (const form of [write, (text: string) => asciiOf(write(text))])
          expect(redact(form(before + value + after))).toBe(form(before + instead + after));
  });

  test("do not join numbers on separate lines", () => {
    const list = within("1234\n5678\n9012\n3456");
    expect(redact(list)).toBe(list);
  });

  test("of a long hostile text take bounded time", () => {
    const started = cpuMs();
    redact(`${"1 ".repeat(30_000)}${"a.".repeat(30_000)}@${"A1 ".repeat(10_000)}`);
    redact(`{"authorization":"${"\\".repeat(60_000)}@`);
    expect(cpuMs(started)).toBeLessThan(500);
  });

  test("of a run of many token beginnings take linear time", () => {
    const started = cpuMs();
    expect(redact("-eyJ".repeat(100_000))).not.toContain("[secret]");
    expect(cpuMs(started)).toBeLessThan(500);
  });
});
