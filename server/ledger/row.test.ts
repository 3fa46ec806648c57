import { expect, test } from "bun:test";
import type { AuditRow } from "@gatehouse/ledger-format/fields";
import { cleanRow } from "./row.ts";

test("what PostgreSQL cannot hold is replaced, in texts, keys and nested values", () => {
  const { row, json } = cleanRow({ id: "a", endpoint: "/x\0\ud800y", custom_metadata: { "k\0": ["\udfff", { deep: "\0" }] }, request_body_preview: "ok" });
  expect(row).toEqual({ id: "a", endpoint: "/x\ufffd\ufffdy", custom_metadata: { "k\ufffd": ["\ufffd", { deep: "\ufffd" }] }, request_body_preview: "ok" });
  expect(JSON.parse(json)).toEqual(row);
});

test("a text that only spells an escape is kept", () => {
  expect(cleanRow({ id: "a", endpoint: "\\u0000 \\ud800" }).row.endpoint).toBe("\\u0000 \\ud800");
});

test("the id comes first, nulls, unknown fields and the chain's own fields not at all", () => {
  const given = { tenant_id: null, endpoint: "/x", id: "a", nonsense: 1, chain_seq: 7, row_hash: "x" } as unknown as AuditRow;
  expect(cleanRow(given).json).toBe('{"id":"a","endpoint":"/x"}');
});

test("a value of a wrong type is made right or left out, never costs the row", () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  const given = { id: "a", http_status_code: 200.4, duration_ms: Number.NaN, llm_prompt_tokens: 2 ** 60, success: "yes", endpoint: 5, timestamp: "2026-11-21T09:34:16.5Z", llm_temperature: Number.POSITIVE_INFINITY, tags: cycle, custom_metadata: { kept: true } };
  expect(cleanRow(given as unknown as AuditRow).row).toEqual({ id: "a", http_status_code: 200, endpoint: "5", timestamp: "2026-11-21T09:34:16.500000Z", custom_metadata: { kept: true } });
});

test("a row without an id of its own is refused", () => {
  expect(() => cleanRow({})).toThrow(TypeError);
  expect(() => cleanRow({ id: 'a"b' })).toThrow(TypeError);
});
