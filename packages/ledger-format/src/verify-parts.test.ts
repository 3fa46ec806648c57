import { describe, expect, test } from "bun:test";
import type { AuditRow } from "./fields.ts";
import { type Entry, feed, places, rowAt, sealed, type TestChain, testChain, WRITTEN_AT } from "./test-chain.ts";

const LATER = "2026-11-21T10:02:00.001000Z";

const content = (index: number): AuditRow => ({
  timestamp: WRITTEN_AT,
  proxy_type: "llm",
  endpoint: `/v1/${index}`,
  http_status_code: 200,
  success: true,
  request_content_hash: "ab".repeat(32),
});

const ofLength = (rows: number): TestChain => testChain(Array.from({ length: rows }, (_, index) => content(index)));

describe("verification of a range of a chain", () => {
  const range = (chain: TestChain, fromSeq: number, toSeq: number, reach: number): TestChain => ({
    ...chain,
    entries: chain.entries.filter((entry) => {
      const seq = entry.type === "row" ? (entry.row.chain_seq as number) : entry.type === "checkpoint" ? entry.chain_seq : 0;
      const context = entry.type === "checkpoint" && seq < fromSeq && seq >= fromSeq - 3;
      return context || (seq >= fromSeq && seq <= Math.max(toSeq, reach));
    }),
  });

  test("a range from just after a checkpoint to a checkpoint is intact", () => {
    expect(feed(range(ofLength(12), 4, 9, 9), { fromSeq: 4, toSeq: 9 })).toMatchObject({ verdict: "intact", rows_checked: 6 });
  });

  test("a range that starts without a signed checkpoint is at most unanchored", () => {
    const result = feed(range(ofLength(12), 5, 9, 9), { fromSeq: 5, toSeq: 9 });
    expect(result.verdict).toBe("unanchored");
    expect(places(result)).toEqual(["unanchored@5"]);
  });

  test("a range that ends between checkpoints is anchored by the next one, unless later rows do not link to it", () => {
    const chain = range(ofLength(12), 4, 7, 9);
    expect(feed(chain, { fromSeq: 4, toSeq: 7, now: LATER })).toMatchObject({ verdict: "intact", rows_checked: 4, pending_anchor: 0 });
    rowAt(chain, 9).endpoint = "x";
    for (const now of [WRITTEN_AT, LATER]) expect(places(feed(chain, { fromSeq: 4, toSeq: 7, now }))).toEqual(["unanchored@7"]);
  });

  /** Seals the rows `from` to `to` again with different content in the first; only the surrounding rows and checkpoints can reveal it. */
  function rewritten(chain: TestChain, from: number, to: number): TestChain {
    for (let seq = from; seq <= to; seq++) {
      const before = seq === 1 ? (rowAt(chain, 1).prev_hash as string) : (rowAt(chain, seq - 1).row_hash as string);
      const row = sealed({ ...rowAt(chain, seq), ...(seq === from ? { endpoint: "x" } : {}) }, seq, before);
      chain.entries = chain.entries.map((entry) => (entry.type === "row" && entry.row.chain_seq === seq ? { type: "row", row } : entry));
    }
    return chain;
  }

  test("a resealed range is detected by the next checkpoint or row, with the same finding as for the whole chain", () => {
    for (const [from, to, fromSeq, toSeq, reach, found] of [
      // The rows up to the next checkpoint were sealed again as well.
      [4, 12, 4, 5, 6, "checkpoint_invalid@6"],
      [5, 6, 4, 5, 6, "checkpoint_invalid@6"],
      // They were not, so the next row names the original one.
      [5, 5, 4, 5, 6, "broken_link@6"],
    ] as const) {
      const chain = rewritten(ofLength(12), from, to);
      const whole = feed(chain);
      const part = feed(range(chain, fromSeq, toSeq, reach), { fromSeq, toSeq });
      expect(places(part)).toContain(found);
      const [same] = whole.findings.filter((finding) => `${finding.verdict}@${finding.chain_seq}` === found);
      expect(part.findings).toContainEqual(same as NonNullable<typeof same>);
    }
  });

  test("a range whose first row links to another row than the preceding one has a broken link", () => {
    const chain = rewritten(ofLength(12), 4, 4);
    const whole = feed(chain);
    const part = feed(range(chain, 4, 6, 6), { fromSeq: 5, toSeq: 6 });
    expect(part).toMatchObject({ rows_checked: 2, verdict: "broken_link" });
    expect(part.findings.at(-1)).toEqual(whole.findings[0] as NonNullable<(typeof whole.findings)[0]>);
  });

  test("a range may follow a row whose content is withheld", () => {
    const afterWithheld = (chain: TestChain) => {
      const { prev_hash, row_hash } = rowAt(chain, 4) as { prev_hash: string; row_hash: string };
      const part = range(chain, 5, 6, 6);
      part.entries.splice(1, 0, { type: "link", chain_seq: 4, prev_hash, row_hash });
      return feed(part, { fromSeq: 5, toSeq: 6 });
    };
    expect(afterWithheld(ofLength(12))).toMatchObject({ verdict: "unanchored", rows_checked: 2, rows_withheld: 0 });
    expect(places(afterWithheld(rewritten(ofLength(12), 4, 4)))).toContain("broken_link@5");
  });

  test("a range that ends before an invalid checkpoint reports that checkpoint", () => {
    const chain = range(ofLength(12), 4, 7, 9);
    const at = chain.entries.findIndex((entry) => entry.type === "checkpoint" && entry.chain_seq === 9);
    const signed = chain.entries[at] as Extract<Entry, { type: "checkpoint" }>;
    chain.entries[at] = { ...signed, note: signed.note.replace("time 2026", "time 2025") };
    expect(places(feed(chain, { fromSeq: 4, toSeq: 7 }))).toEqual(["checkpoint_invalid@9"]);
  });
});
