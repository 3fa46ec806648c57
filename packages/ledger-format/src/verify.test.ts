import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { rowHash } from "./canonical.ts";
import { checkpointDigest, checkpointText, signCheckpoint } from "./checkpoint.ts";
import { FIELDS, type AuditRow } from "./fields.ts";
import { HASH_FORMATS } from "./hash-formats.ts";
import { type Entry, feed, newSigner, places, rowAt, sealed, testChain, trust, WRITTEN_AT, type TestChain } from "./test-chain.ts";

const LATER = "2026-11-21T10:02:00.001000Z";

const content = (index: number): AuditRow => ({
  timestamp: WRITTEN_AT,
  proxy_type: "llm",
  endpoint: `/v1/${index}`,
  http_status_code: 200,
  success: true,
  request_content_hash: "ab".repeat(32),
});

const ofLength = (rows: number, options: Parameters<typeof testChain>[1] = {}): TestChain =>
  testChain(
    Array.from({ length: rows }, (_, index) => content(index)),
    options,
  );

/** Removes rows; all other rows and the checkpoints stay. */
function without(chain: TestChain, ...seqs: number[]): TestChain {
  chain.entries = chain.entries.filter((entry) => entry.type !== "row" || !seqs.includes(entry.row.chain_seq as number));
  return chain;
}

const expectFindings = (chain: TestChain, ...found: string[]) => expect(places(feed(chain))).toEqual(found);

describe("an untampered chain is intact", () => {
  test("at any length and any spacing of checkpoints", () => {
    const signer = newSigner();
    fc.assert(
      fc.property(
        fc.nat(40),
        fc.integer({ min: 1, max: 9 }),
        fc.boolean(),
        fc.constantFrom("v1" as const, "v2" as const),
        (rows, every, open, format) => {
          const contents = Array.from({ length: rows }, (_, index) => ({
            ...content(index),
            request_content_hash: format === "v1" ? null : "cd".repeat(32),
          }));
          const result = feed(testChain(contents, { every, open, format, signer }));
          expect(result).toMatchObject({ verdict: "intact", findings: [], rows_checked: rows, pending_anchor: open ? rows % every : 0 });
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test("while its last rows await a checkpoint for at most two intervals; later they are unanchored", () => {
    const chain = ofLength(5, { every: 3, open: true });
    expect(feed(chain, { now: "2026-11-21T10:02:00.000000Z" })).toMatchObject({ verdict: "intact", pending_anchor: 2 });
    const late = feed(chain, { now: LATER });
    expect(late.verdict).toBe("unanchored");
    expect(places(late)).toEqual(["unanchored@4"]);
  });

  test("while its writer catches up after a database outage", () => {
    const chain = ofLength(5, { every: 3, open: true });
    chain.chain = { ...chain.chain, updated_at: "2026-11-21T11:00:00.000000Z" };
    expect(feed(chain, { now: "2026-11-21T11:00:01.000000Z" }).verdict).toBe("intact");
    expect(feed(chain, { now: "2026-11-21T11:02:01.000000Z" }).verdict).toBe("unanchored");
    chain.chain = { ...chain.chain, updated_at: "2027-11-21T11:00:00.000000Z" };
    expect(feed(chain, { now: "2026-11-21T11:00:01.000000Z" }).verdict).toBe("unanchored");
  });

  test("with bodies expired or erased, which are counted", () => {
    const chain = ofLength(4);
    rowAt(chain, 1).bodies_pruned_at = LATER;
    rowAt(chain, 2).erased_at = LATER;
    rowAt(chain, 3).error_message = "edited, but not hashed";
    expect(feed(chain)).toMatchObject({ verdict: "intact", bodies_expired: 1, bodies_erased: 1 });
  });

  test("with a checkpoint over no new rows", () => {
    const chain = ofLength(3);
    const note = (chain.entries.at(-1) as { note: string }).note;
    const text = note.slice(0, note.indexOf("\n\n") + 1);
    const idle = signCheckpoint(
      {
        chainId: chain.chain.chain_id,
        chainSeq: 3,
        rowHash: chain.chain.head_hash as string,
        time: LATER,
        firstSeq: 4,
        previous: checkpointDigest(text),
      },
      chain.signer,
    );
    chain.entries.push({ type: "checkpoint", chain_seq: 3, note: idle });
    expect(feed(chain)).toMatchObject({ verdict: "intact", checkpoints_checked: 2 });
  });
});

describe("an edit of a stored field", () => {
  test("of any row and any hashed field is exactly one finding, at that row", () => {
    const signer = newSigner();
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 25 }),
        fc.integer({ min: 1, max: 6 }),
        fc.nat(),
        fc.constantFrom(...HASH_FORMATS.v2),
        (rows, every, pick, field) => {
          const chain = ofLength(rows, { every, signer });
          const seq = (pick % rows) + 1;
          const row = rowAt(chain, seq) as Record<string, unknown>;
          const { type } = FIELDS[field];
          row[field] =
            type === "text"
              ? `${String(row[field])}x`
              : type === "boolean"
                ? row[field] !== true
                : type === "integer"
                  ? 201
                  : "2020-01-01T00:00:00.000000Z";
          const result = feed(chain);
          expect(result.findings.map((finding) => [finding.verdict, finding.chain_seq, finding.row_id])).toEqual([
            ["altered", seq, row["id"] as string],
          ]);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test("of row_hash does not make the next row a finding", () => {
    const chain = ofLength(7);
    rowAt(chain, 4).row_hash = "ab".repeat(32);
    expectFindings(chain, "altered@4");
  });

  test("to a value that is not a string is found as well", () => {
    for (const field of ["id", "created_at", "row_hash", "timestamp"] as const) {
      const chain = ofLength(7, { open: true });
      Object.assign(rowAt(chain, 4), { [field]: 5 });
      expect(places(feed(chain))).toEqual(field === "created_at" ? [] : ["altered@4"]);
    }
    const open = ofLength(7, { open: true });
    Object.assign(rowAt(open, 7), { created_at: 5 });
    expectFindings(open, "unanchored@7");
  });

  test("of prev_hash breaks both the hash and the link of its own row", () => {
    const chain = ofLength(7);
    rowAt(chain, 4).prev_hash = "ab".repeat(32);
    expectFindings(chain, "altered@4", "broken_link@4");
  });

  test("cannot be hidden by claiming v1, which does not cover the field", () => {
    const chain = ofLength(7);
    const row = rowAt(chain, 4);
    row.row_hash = rowHash(row, "v1", row.prev_hash as string);
    expectFindings(chain, "altered@4");
  });
});

describe("resealing after an edit", () => {
  const forge = (chain: TestChain, seq: number, prevHash?: string) => {
    const row = rowAt(chain, seq);
    Object.assign(row, sealed({ ...row, endpoint: "/forged" }, seq, prevHash ?? (row.prev_hash as string)));
    return row.row_hash as string;
  };

  test("of one row is found at the next row, whose link no longer matches", () => {
    const chain = ofLength(7);
    forge(chain, 4);
    expectFindings(chain, "broken_link@5");
  });

  test("of a row with a checkpoint is found at that row", () => {
    const chain = ofLength(7);
    forge(chain, 3);
    expectFindings(chain, "checkpoint_invalid@3");
  });

  test("of all rows to the end is found at the next checkpoint", () => {
    const chain = ofLength(8, { every: 5 });
    let hash = forge(chain, 4);
    for (let seq = 5; seq <= 8; seq++) hash = forge(chain, seq, hash);
    expectFindings(chain, "checkpoint_invalid@5", "checkpoint_invalid@8");
  });

  test("of the last row, without a checkpoint yet, is found by comparison with the recorded head", () => {
    const chain = ofLength(5, { open: true });
    forge(chain, 5);
    expectFindings(chain, "altered@5");
  });
});

describe("removed, moved and added rows are found:", () => {
  test("a deleted row at any position", () => {
    for (let seq = 1; seq <= 7; seq++) expectFindings(without(ofLength(7), seq), `missing@${seq}`);
  });

  test("rows and checkpoints that a restored backup lacks are one finding", () => {
    const chain = ofLength(12);
    const between = (from: number, to: number) => (entry: Entry) => {
      const seq = entry.type === "row" ? (entry.row.chain_seq as number) : entry.type === "checkpoint" ? entry.chain_seq : 0;
      return seq < from || seq > to;
    };
    for (const [from, to] of [
      [4, 6],
      [4, 7],
      [5, 8],
      [2, 11],
    ] as const)
      expectFindings({ ...chain, entries: chain.entries.filter(between(from, to)) }, `missing@${from}`);
    // A missing checkpoint that no missing row explains is a separate finding.
    const entries = chain.entries.filter((entry) => between(8, 8)(entry) && !(entry.type === "checkpoint" && entry.chain_seq === 3));
    expectFindings({ ...chain, entries }, "checkpoint_invalid@6", "missing@8");
  });

  test("a contiguous range of deleted rows is one finding", () => {
    expectFindings(without(ofLength(9), 4, 5, 6), "missing@4");
  });

  test("a truncated tail, also when its checkpoints were deleted too", () => {
    const chain = without(ofLength(9), 8, 9);
    expectFindings(chain, "missing@8");
    chain.entries = chain.entries.filter((entry) => entry.type !== "checkpoint" || entry.chain_seq < 9);
    expectFindings(chain, "missing@8", "missing@9");
  });

  test("a truncated tail with the recorded head reset, by the newest checkpoint or an externally known head", () => {
    const chain = without(ofLength(9), 8, 9);
    const { chain_seq: chainSeq, row_hash: rowHashNow } = rowAt(chain, 7) as { chain_seq: number; row_hash: string };
    const whole = chain.chain;
    chain.chain = { ...whole, head_seq: chainSeq, head_hash: rowHashNow };
    expectFindings(chain, "missing@8");
    chain.chain = { ...chain.chain, last_checkpoint_seq: 6 };
    chain.entries = chain.entries.filter((entry) => entry.type !== "checkpoint" || entry.chain_seq < 9);
    expectFindings(chain);
    expect(places(feed(chain, { knownHeads: [{ chainSeq: 9, rowHash: whole.head_hash as string }] }))).toEqual(["missing@8"]);
  });

  test("rows renumbered after a deletion", () => {
    const renumber = (gone: number) => {
      const chain = without(ofLength(8, { every: 8 }), gone);
      for (const entry of chain.entries)
        if (entry.type === "row" && (entry.row.chain_seq as number) > gone) entry.row.chain_seq = (entry.row.chain_seq as number) - 1;
      return chain;
    };
    expectFindings(renumber(4), "broken_link@4", "missing@8");
    expectFindings(renumber(1), "missing@1", "missing@8");
    expectFindings(renumber(8), "missing@8");
  });

  test("two swapped rows", () => {
    const chain = ofLength(9, { every: 9 });
    const [a, b] = [rowAt(chain, 4), rowAt(chain, 5)];
    a.chain_seq = 5;
    b.chain_seq = 4;
    chain.entries.sort((x, y) => (x.type === "row" && y.type === "row" ? (x.row.chain_seq as number) - (y.row.chain_seq as number) : 0));
    expectFindings(chain, "broken_link@4", "broken_link@5", "broken_link@6");
  });

  test("a row replaced by one of another chain", () => {
    const chain = ofLength(7, { every: 7 });
    const other = testChain(
      Array.from({ length: 7 }, (_, index) => content(index + 100)),
      { chainId: "01JQ0000000000000000000001" },
    );
    Object.assign(rowAt(chain, 4), rowAt(other, 4), { chain_id: chain.chain.chain_id });
    expectFindings(chain, "broken_link@4", "broken_link@5");
    Object.assign(rowAt(chain, 4), { chain_id: other.chain.chain_id });
    expect(feed(chain).verdict).toBe("broken_link");
  });

  test("a second row at the same position", () => {
    const chain = ofLength(7);
    const at = chain.entries.findIndex((entry) => entry.type === "row" && entry.row.chain_seq === 4);
    const twin = sealed({ id: "twin", endpoint: "/forged" }, 4, rowAt(chain, 4).prev_hash as string);
    chain.entries.splice(at, 0, { type: "row", row: twin });
    expectFindings(chain, "broken_link@4");
    expect(feed(chain).findings[0]?.row_id).toBe(rowAt(ofLength(7), 4).id as string);
  });

  test("a chain resealed and re-signed with its own key, by comparison with externally kept heads", () => {
    const chain = ofLength(9);
    const { signer } = chain;
    const anew = testChain(
      Array.from({ length: 9 }, (_, index) => content(index < 3 ? index : index + 50)),
      { signer },
    );
    expect(feed(anew).verdict).toBe("intact");
    const kept = (seq: number) => ({ chainSeq: seq, rowHash: rowAt(chain, seq).row_hash as string });
    expect(places(feed(anew, { knownHeads: [kept(3)] }))).toEqual([]);
    expect(places(feed(anew, { knownHeads: [kept(3), kept(6)] }))).toEqual(["altered@6"]);
    expect(feed(anew, { knownHeads: [kept(6), kept(9)] }).verdict).toBe("altered");
  });

  test("rows added without the writer, immediately", () => {
    const chain = ofLength(6);
    const added = sealed({ id: "added" }, 7, chain.chain.head_hash as string);
    chain.entries.push({ type: "row", row: added });
    const result = feed(chain);
    expect(result).toMatchObject({ verdict: "unanchored", findings: [{ chain_seq: 7, row_id: "added" }], pending_anchor: 0 });
  });
});

describe("checkpoints", () => {
  const nth = (chain: TestChain, index: number) =>
    chain.entries.filter((entry) => entry.type === "checkpoint")[index] as { chain_seq: number; note: string };

  test("a wrong signature, an edited text or an unreadable form is found", () => {
    for (const [find, replaced] of [
      ["time 2026", "time 2025"],
      ["gw.audit/", "gw.audit/x"],
      ["\u2014 gw.audit ", "\u2014 gw.audit AAAA"],
      ["\n\n", "\n"],
    ] as const) {
      const chain = ofLength(9);
      nth(chain, 1).note = nth(chain, 1).note.replace(find, replaced);
      expectFindings(chain, "checkpoint_invalid@6");
    }
  });

  test("spare bits set in the signature's base64 are found", () => {
    const chain = ofLength(3);
    const note = nth(chain, 0).note;
    const spare = note.at(-3) === "A" ? "B" : String.fromCharCode((note.at(-3) as string).charCodeAt(0) + 1);
    nth(chain, 0).note = `${note.slice(0, -3)}${spare}${note.slice(-2)}`;
    expectFindings(chain, "checkpoint_invalid@3");
  });

  test("a signature by an untrusted key, or outside the key's validity, is found", () => {
    const chain = ofLength(3);
    expect(places(feed(chain, { keys: [trust(newSigner())] }))).toEqual(["checkpoint_invalid@3"]);
    expect(places(feed(chain, { keys: [trust(chain.signer, { validFrom: LATER })] }))).toEqual(["checkpoint_invalid@3"]);
    expect(places(feed(chain, { keys: [trust(chain.signer, { validTo: "2026-11-21T09:59:59.999999Z" })] }))).toEqual([
      "checkpoint_invalid@3",
    ]);
    expect(feed(chain, { keys: [trust(chain.signer, { validFrom: WRITTEN_AT, validTo: WRITTEN_AT })] }).verdict).toBe("intact");
  });

  test("a removed checkpoint is found, in the middle and at the end", () => {
    const middle = ofLength(9);
    middle.entries = middle.entries.filter((entry) => entry.type !== "checkpoint" || entry.chain_seq !== 6);
    expectFindings(middle, "checkpoint_invalid@9");
    const end = ofLength(9);
    end.entries = end.entries.filter((entry) => entry.type !== "checkpoint" || entry.chain_seq !== 9);
    expectFindings(end, "missing@9");
  });

  test("checkpoints removed one after the other give the finding at the next one a new ID each time", () => {
    const chain = ofLength(9);
    const names = [6, 3].map((seq) => {
      chain.entries = chain.entries.filter((entry) => entry.type !== "checkpoint" || entry.chain_seq !== seq);
      expectFindings(chain, "checkpoint_invalid@9");
      return feed(chain).findings[0]?.id;
    });
    expect(new Set(names).size).toBe(2);
  });

  test("a checkpoint of another chain, or moved to another row, is found", () => {
    const chain = ofLength(9);
    const other = ofLength(9, { chainId: "01JQ0000000000000000000001", signer: chain.signer });
    nth(chain, 1).note = nth(other, 1).note;
    expectFindings(chain, "checkpoint_invalid@6");
    const moved = ofLength(9);
    nth(moved, 1).note = nth(moved, 0).note;
    expect(feed(moved).verdict).toBe("checkpoint_invalid");
  });

  test("all findings are listed, and the worst one is the verdict", () => {
    const chain = without(ofLength(12), 11);
    rowAt(chain, 2).endpoint = "x";
    nth(chain, 1).note = nth(chain, 1).note.replace("time 2026", "time 2025");
    const result = feed(chain);
    expect(result.verdict).toBe("checkpoint_invalid");
    expect(places(result)).toEqual(["altered@2", "checkpoint_invalid@6", "missing@11"]);
  });

  test("findings beyond the listed maximum are still counted", () => {
    const chain = ofLength(50);
    for (let seq = 1; seq <= 50; seq++) rowAt(chain, seq).endpoint = "x";
    expect(feed(chain, { maxFindings: 10 })).toMatchObject({ verdict: "altered", findings_total: 50, findings: { length: 10 } });
  });
});

describe("partial chains", () => {
  test("after retention dropped a prefix, the chain starts at the last dropped checkpoint", () => {
    const chain = ofLength(9);
    const dropped = chain.entries.find((entry) => entry.type === "checkpoint" && entry.chain_seq === 3) as { note: string };
    const hash = rowAt(chain, 3).row_hash as string;
    chain.chain = { ...chain.chain, first_seq: 4 };
    chain.entries = chain.entries.slice(4);
    expectFindings({ ...chain, entries: [...chain.entries] }, "missing@1");
    chain.entries.unshift({ type: "pruned", through_seq: 3, row_hash: hash, checkpoint: dropped.note });
    expectFindings(chain);
    rowAt(chain, 4).prev_hash = "ab".repeat(32);
    expect(feed(chain).verdict).toBe("altered");
    chain.entries[0] = { type: "pruned", through_seq: 3, row_hash: "ab".repeat(32), checkpoint: dropped.note };
    expect(feed(chain).verdict).toBe("checkpoint_invalid");
  });

  test("a missing beginning that the chain does not record as dropped is reported, despite a pruned entry", () => {
    const chain = ofLength(9);
    const dropped = chain.entries.find((entry) => entry.type === "checkpoint" && entry.chain_seq === 3) as { note: string };
    const hash = rowAt(chain, 3).row_hash as string;
    chain.entries = [{ type: "pruned", through_seq: 3, row_hash: hash, checkpoint: dropped.note }, ...chain.entries.slice(4)];
    expectFindings(chain, "missing@1");
  });

  test("a pruned entry for rows that are still there is a broken link, wherever it is", () => {
    const chain = ofLength(9);
    const signed = chain.entries.find((entry) => entry.type === "checkpoint" && entry.chain_seq === 3) as { note: string };
    const pruned = { type: "pruned" as const, through_seq: 3, row_hash: rowAt(chain, 3).row_hash as string, checkpoint: signed.note };
    for (const at of [0, 5, chain.entries.length])
      expectFindings({ ...chain, entries: chain.entries.toSpliced(at, 0, pruned) }, "broken_link@3");
    chain.chain = { ...chain.chain, first_seq: 4 };
    chain.entries = [pruned, ...chain.entries.slice(4)];
    expectFindings(chain);
    expectFindings({ ...chain, entries: [pruned, ...chain.entries] }, "broken_link@3");
  });

  test("links are still checked at rows whose content is withheld", () => {
    const chain = ofLength(9);
    chain.entries = chain.entries.map((entry) => {
      if (entry.type !== "row" || (entry.row.chain_seq as number) % 2 === 0) return entry;
      const { chain_seq, prev_hash, row_hash } = entry.row as { chain_seq: number; prev_hash: string; row_hash: string };
      return { type: "link", chain_seq, prev_hash, row_hash };
    });
    expect(feed(chain)).toMatchObject({ verdict: "intact", rows_checked: 4, rows_withheld: 5 });
    const link = chain.entries.find((entry) => entry.type === "link" && entry.chain_seq === 5) as { prev_hash: string };
    link.prev_hash = "ab".repeat(32);
    expect(feed(chain).findings).toMatchObject([{ verdict: "broken_link", chain_seq: 5, row_id: null }]);
  });
});

test("the text of a checkpoint never changes", () => {
  const text = checkpointText({
    chainId: "01JQ",
    chainSeq: 1000,
    rowHash: "00ff".repeat(16),
    time: WRITTEN_AT,
    firstSeq: 1,
    previous: null,
  });
  expect(text).toBe(
    "gw.audit/01JQ\n1000\nAP8A/wD/AP8A/wD/AP8A/wD/AP8A/wD/AP8A/wD/AP8=\ntime 2026-11-21T10:00:00.000000Z\nfirst 1\nprevious -\n",
  );
});
