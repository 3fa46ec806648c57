import { expect, test } from "bun:test";
import type { AuditRow } from "@gatehouse/ledger-format/fields";
import fc from "fast-check";
import { storableRow } from "./row.ts";
import { lineId, readRowLine } from "./row-line.ts";

const lineOf = (row: AuditRow) => storableRow(row).line();

test("characters that PostgreSQL cannot store are replaced in texts, keys and nested values, in the row and in its line", () => {
  const row: AuditRow = {
    id: "a",
    endpoint: "/x\0\ud800y",
    custom_metadata: { "k\0": ["\udfff", { deep: "\0" }] },
    request_body_preview: "ok",
  };
  const line = lineOf(row);
  expect(row).toEqual({
    id: "a",
    endpoint: "/x\ufffd\ufffdy",
    custom_metadata: { "k\ufffd": ["\ufffd", { deep: "\ufffd" }] },
    request_body_preview: "ok",
  });
  expect(readRowLine(line)).toEqual(row);
});

test("a text that looks like an escape sequence is kept", () => {
  expect(readRowLine(lineOf({ id: "a", endpoint: "\\u0000 \\ud800 \\N \\t" })).endpoint).toBe("\\u0000 \\ud800 \\N \\t");
});

test("any text survives a round trip through its line, which is one line and starts with the row's ID", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: fc.constantFrom("\\", "\n", "\r", "\t", "N", "n", '"', "é", "👋") }),
      fc.dictionary(fc.string(), fc.string()),
      (endpoint, preview, metadata) => {
        const row: AuditRow = {
          id: "01ABC",
          endpoint: endpoint.replaceAll("\0", ""),
          request_body_preview: preview,
          custom_metadata: JSON.parse(JSON.stringify(metadata).replaceAll("\\u0000", "")),
          success: false,
          http_status_code: 0,
        };
        const expected = structuredClone(row);
        const line = lineOf(row);
        expect(line).not.toContain("\n");
        expect(lineId(Buffer.from(line))).toBe("01ABC");
        expect(readRowLine(line)).toEqual(expected);
      },
    ),
    { numRuns: 1000 },
  );
});

test("unknown fields are dropped, and values of a wrong type converted or dropped, without losing the row", () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  const given = {
    id: "a",
    nonsense: 1,
    http_status_code: 200.4,
    duration_ms: Number.NaN,
    llm_prompt_tokens: 2 ** 60,
    success: "yes",
    endpoint: 5,
    timestamp: "2026-11-21T09:34:16.5Z",
    llm_temperature: Number.POSITIVE_INFINITY,
    tags: cycle,
    custom_metadata: { kept: true },
  };
  expect(readRowLine(lineOf(given as unknown as AuditRow))).toEqual({
    id: "a",
    http_status_code: 200,
    endpoint: "5",
    timestamp: "2026-11-21T09:34:16.500000Z",
    custom_metadata: { kept: true },
  });
});

test("a row without a valid ID is refused", () => {
  expect(() => storableRow({})).toThrow(TypeError);
  expect(() => storableRow({ id: 'a"b' })).toThrow(TypeError);
});
