import { expect, test } from "bun:test";
import type { Call } from "../../../road/call.ts";
import { type JsonObject, objectInJson } from "../../../kernel/json-value.ts";
import type { TextSlot } from "../../../wire/inbound.ts";
import type { ToolParts } from "../tool-parts.ts";
import { refuse } from "../../../kernel/errors.ts";
import { inspectedText } from "./answer-gate.ts";

/** Gates that redact "joe" and block "titan". */
const gates = {
  inspects: () => true,
  inspect: async (_call: Call, _surface: string, slots: readonly TextSlot[]) => {
    for (const slot of slots) {
      if (slot.text.includes("titan")) return refuse("guardrail_blocked");
      if (slot.text.includes("joe")) slot.replace(slot.text.replaceAll("joe", "[WHO]"));
    }
    return null;
  },
} as unknown as ToolParts["gates"];

async function inspected(text: string): Promise<{ said: string | null; tags: unknown }> {
  const call = { row: {} } as Call;
  const said = await inspectedText(call, { text, value: objectInJson(text) as JsonObject | null }, { gates });
  return { said, tags: call.row.tags };
}

const cancelled = (params: string) => `{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`;

test("an inspected message keeps its spelling, except in what is redacted", async () => {
  const plain =
    '{ "jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 12345678901234567890, "message": "\\u00e9"} }';
  expect(await inspected(plain)).toEqual({ said: plain, tags: undefined });
  expect((await inspected(plain.replace("\\u00e9", "joe"))).said).toBe(plain.replace("\\u00e9", "[WHO]"));
});

test("a blocked cancellation is sent without its reason, and not at all if its request ID may contain text", async () => {
  for (const id of ["7", '"q-1"', "12345678901234567890"])
    expect(await inspected(cancelled(`{"requestId":${id},"reason":"titan"}`))).toEqual({
      said: cancelled(`{"requestId":${id}}`),
      tags: ["message_withheld"],
    });
  for (const params of [
    '{"requestId":"a titan"}',
    '{"requestId":{"of":"titan"}}',
    '{"requestId":["titan"]}',
    '["titan"]',
    '"titan"',
    '{"reason":"titan"}',
  ])
    expect(await inspected(cancelled(params))).toEqual({ said: null, tags: ["message_withheld"] });
});

test("a request whose ID may contain text is withheld if the ID would have to be changed", async () => {
  const asked = (id: string) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"ping"}`;
  expect((await inspected(asked("ask joe"))).said).toBeNull();
  expect((await inspected(asked("a titan"))).said).toBeNull();
  expect((await inspected(asked("ask ann"))).said).toBe(asked("ask ann"));
});
