import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import type { Verification } from "@gatehouse/ledger-format/verdict";
import { verifyExport } from "@gatehouse/ledger-format/verify-export";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { Refused } from "../../kernel/errors.ts";
import { putAcknowledgements } from "../../store/ledger/chain-acknowledgements.ts";
import { exportChain } from "./chain-export.ts";
import { listChains } from "./chain-facts.ts";
import { type MarkedFinding, verifyChain } from "./chains.ts";
import type { Ledger } from "../ledger.ts";
import { listSigningKeys } from "../checkpoints/signing-keys.ts";
import { callRow, SIGNING_KEY, temporaryDirectory, testLedger } from "../test-support.ts";

const MINE = "33333333-3333-4333-8333-333333333333";
const OTHERS = "44444444-4444-4444-8444-444444444444";
/** A tenant without rows: all are withheld from it. */
const NOBODY = "55555555-5555-4555-8555-555555555555";

let database: TestDatabase;
let chain: string;
let ledger: Ledger;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

/** Twenty rows alternating between two tenants, with a checkpoint at 20. */
beforeEach(async () => {
  ledger = await testLedger(database.db, temporaryDirectory());
  chain = ledger.chainId;
  for (let seq = 1; seq <= 20; seq++) await ledger.seal(callRow({ tenant_id: seq % 2 === 0 ? MINE : OTHERS }));
  await ledger.close();
});
afterEach(() => sql`TRUNCATE audit_rows, audit_chains, audit_checkpoints`.execute(database.db));

const edit = (statement: string) => sql.raw(statement.replaceAll("CHAIN", `chain_id = '${chain}'`)).execute(database.db);

async function exported(tenantId?: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of exportChain(database.db, chain, { tenantId })) lines.push(line.trimEnd());
  return lines;
}

/** Not acknowledged, as in an exported file. */
const UNKNOWN: Pick<MarkedFinding, "acknowledged_at" | "acknowledged_by" | "note"> = {
  acknowledged_at: null,
  acknowledged_by: null,
  note: null,
};
const named = (result: Pick<Verification, "findings">) => result.findings.map(({ id }) => id);
const placed = (result: Pick<Verification, "findings">) => result.findings.map((finding) => `${finding.verdict}@${finding.chain_seq}`);

/** The findings, on which the database and its exports must agree for every reader. */
async function findings(): Promise<string[]> {
  const stored = await verifyChain(database.db, chain);
  const offline = await verifyExport(await exported());
  expect(offline.findings.map((finding) => ({ ...finding, ...UNKNOWN }))).toEqual(stored.findings);
  expect(offline.verdict).toBe(stored.verdict);
  const ids = new Set(stored.findings.map((finding) => finding.row_id));
  for (const tenantId of [MINE, OTHERS, NOBODY]) {
    const own = await verifyChain(database.db, chain, { tenantId });
    expect(placed(own)).toEqual(placed(stored));
    expect(named(own)).toEqual(named(stored));
    const ownFile = await verifyExport(await exported(tenantId));
    expect([placed(ownFile), named(ownFile)]).toEqual([placed(stored), named(stored)]);
    for (const { row_id } of own.findings) if (row_id !== null) expect([tenantId === NOBODY, ids.has(row_id)]).toEqual([false, true]);
  }
  return placed(stored);
}

describe("verification of the stored chain and of its export:", () => {
  test("an untampered chain and expired bodies have no findings", async () => {
    expect(await findings()).toEqual([]);
    await edit("UPDATE audit_rows SET request_body_preview = NULL, bodies_pruned_at = now() WHERE CHAIN AND chain_seq < 4");
    expect(await findings()).toEqual([]);
    expect(await verifyChain(database.db, chain)).toMatchObject({
      bodies_expired: 3,
      head: { chain_seq: 20 },
      rows_checked: 20,
      checkpoints_checked: 1,
      pending_anchor: 0,
    });
  });

  const edits: readonly (readonly [what: string, statement: string, found: readonly string[]])[] = [
    ["an edited field", "UPDATE audit_rows SET http_status_code = 500 WHERE CHAIN AND chain_seq = 7", ["altered@7"]],
    ["a field made absent", "UPDATE audit_rows SET tenant_id = NULL WHERE CHAIN AND chain_seq = 7", ["altered@7"]],
    [
      "a time moved by a microsecond",
      "UPDATE audit_rows SET timestamp = timestamp + interval '1 microsecond' WHERE CHAIN AND chain_seq = 7",
      ["altered@7"],
    ],
    ["an edited row_hash", "UPDATE audit_rows SET row_hash = repeat('ab', 32) WHERE CHAIN AND chain_seq = 7", ["altered@7"]],
    [
      "an edited prev_hash",
      "UPDATE audit_rows SET prev_hash = repeat('ab', 32) WHERE CHAIN AND chain_seq = 7",
      ["altered@7", "broken_link@7"],
    ],
    ["a deleted row", "DELETE FROM audit_rows WHERE CHAIN AND chain_seq = 7", ["missing@7"]],
    ["the first row deleted", "DELETE FROM audit_rows WHERE CHAIN AND chain_seq = 1", ["missing@1"]],
    ["the last row deleted", "DELETE FROM audit_rows WHERE CHAIN AND chain_seq = 20", ["missing@20"]],
    ["all rows deleted", "DELETE FROM audit_rows WHERE CHAIN", ["missing@1"]],
    [
      "two rows swapped",
      "UPDATE audit_rows SET chain_seq = 15 - chain_seq WHERE CHAIN AND chain_seq IN (7, 8)",
      ["broken_link@7", "broken_link@8", "broken_link@9"],
    ],
    ["a row without a position", "UPDATE audit_rows SET chain_seq = NULL WHERE CHAIN AND chain_seq = 7", ["missing@7", "broken_link@21"]],
    [
      "a copied row at the same position",
      "INSERT INTO audit_rows (id, chain_id, chain_seq, prev_hash, row_hash) SELECT 'zcopy', chain_id, chain_seq, prev_hash, row_hash FROM audit_rows WHERE CHAIN AND chain_seq = 7",
      ["altered@7", "broken_link@7"],
    ],
    [
      "a row appended",
      "INSERT INTO audit_rows (id, chain_id, chain_seq, prev_hash, row_hash) SELECT 'zcopy', chain_id, 21, row_hash, row_hash FROM audit_rows WHERE CHAIN AND chain_seq = 20",
      ["altered@21", "unanchored@21"],
    ],
    [
      "an edited checkpoint",
      "UPDATE audit_checkpoints SET note = replace(note, 'time 2', 'time 1') WHERE CHAIN",
      ["checkpoint_invalid@20"],
    ],
    ["a deleted checkpoint", "DELETE FROM audit_checkpoints WHERE CHAIN", ["missing@20"]],
    [
      "a checkpoint at an impossible position",
      "UPDATE audit_checkpoints SET chain_seq = -20 WHERE CHAIN",
      ["checkpoint_invalid@-20", "missing@20"],
    ],
    ["a recorded head before all rows", "UPDATE audit_chains SET head_seq = -1 WHERE CHAIN", ["unanchored@1"]],
    ["a recorded beginning before all rows", "UPDATE audit_chains SET first_seq = -5 WHERE CHAIN", ["missing@-5"]],
    ["the record of the chain deleted", "DELETE FROM audit_chains WHERE CHAIN", ["unanchored@1"]],
    [
      "all but the checkpoints deleted",
      "WITH gone AS (DELETE FROM audit_chains WHERE CHAIN) DELETE FROM audit_rows WHERE CHAIN",
      ["missing@1"],
    ],
    ["an edited recorded head", "UPDATE audit_chains SET head_hash = repeat('ab', 32) WHERE CHAIN", ["altered@20"]],
  ];
  for (const [what, statement, found] of edits) {
    test(what, async () => {
      await edit(statement);
      expect(await findings()).toEqual([...found]);
    });
  }

  test.each(["NULL", "'none'"])(
    "a row without a valid hash (prev_hash %s) gets another finding ID with each further edit",
    async (prev) => {
      const seen = new Set<string>();
      for (const status of [201, 500, 503]) {
        await edit(`UPDATE audit_rows SET prev_hash = ${prev}, http_status_code = ${status} WHERE CHAIN AND chain_seq = 7`);
        expect(await findings()).toEqual(["altered@7", "broken_link@7"]);
        seen.add(named(await verifyChain(database.db, chain)).join());
      }
      expect(seen.size).toBe(3);
    },
  );

  test("a signing key inserted afterwards is rejected if the public keys are given", async () => {
    const mine = createPublicKey(createPrivateKey(SIGNING_KEY)).export({ format: "der", type: "spki" }).subarray(-32);
    const other = generateKeyPairSync("ed25519").publicKey.export({ format: "der", type: "spki" }).subarray(-32);
    expect((await verifyChain(database.db, chain, { publicKeys: [mine] })).verdict).toBe("intact");
    expect((await verifyChain(database.db, chain, { publicKeys: [other] })).verdict).toBe("checkpoint_invalid");
    expect((await verifyExport(await exported(), { publicKeys: [other] })).verdict).toBe("checkpoint_invalid");
    expect(await verifyExport(await exported(), { publicKeys: [mine] })).toMatchObject({ verdict: "intact", keys_from_export: false });
  });

  test("a tail cut together with all records of it is found with a known live head", async () => {
    const { headSeq: chainSeq, headHash: rowHash } = ledger.status();
    await edit("DELETE FROM audit_rows WHERE CHAIN AND chain_seq > 10");
    await edit("DELETE FROM audit_checkpoints WHERE CHAIN");
    await edit(
      "UPDATE audit_chains SET head_seq = 10, last_checkpoint_seq = NULL, head_hash = (SELECT row_hash FROM audit_rows WHERE CHAIN AND chain_seq = 10) WHERE CHAIN",
    );
    expect((await verifyChain(database.db, chain)).verdict).toBe("intact");
    expect(await verifyChain(database.db, chain, { knownHeads: [{ chainSeq, rowHash }] })).toMatchObject({
      verdict: "missing",
      findings: [{ chain_seq: 11 }],
    });
  });
});

test("a tenant sees only the links of other tenants' rows", async () => {
  const lines: { type: string; row?: { tenant_id: string } }[] = [];
  for await (const line of exportChain(database.db, chain, { tenantId: MINE })) lines.push(JSON.parse(line) as (typeof lines)[0]);
  expect(lines.filter((line) => line.type === "row").map((line) => line.row?.tenant_id)).toEqual(Array(10).fill(MINE));
  expect(lines.filter((line) => line.type === "link")).toHaveLength(10);
  expect(JSON.stringify(lines)).not.toContain(OTHERS);
  await edit("UPDATE audit_rows SET prev_hash = repeat('ab', 32) WHERE CHAIN AND chain_seq = 7");
  expect(await verifyChain(database.db, chain, { tenantId: MINE })).toMatchObject({
    rows_checked: 20,
    rows_withheld: 10,
    findings: [
      { verdict: "altered", chain_seq: 7, row_id: null },
      { verdict: "broken_link", chain_seq: 7, row_id: null },
    ],
  });
});

test("a changed row that belongs to no tenant is found by every tenant", async () => {
  const stranger = await testLedger(database.db, temporaryDirectory());
  chain = stranger.chainId;
  await stranger.seal(callRow({ tenant_id: MINE }));
  await stranger.seal(callRow({ tenant_id: null, error_type: "credential_missing" }));
  await stranger.close();
  await edit("UPDATE audit_rows SET http_status_code = 200, success = NOT success WHERE CHAIN AND chain_seq = 2");
  expect(await verifyChain(database.db, chain, { tenantId: MINE })).toMatchObject({
    verdict: "altered",
    findings: [{ verdict: "altered", chain_seq: 2, row_id: null }],
  });
  expect((await verifyExport(await exported(MINE))).verdict).toBe("altered");
});

test("another tenant's row at an impossible position is found by a tenant too, in the database and in the export", async () => {
  for (const [place, found] of [
    ["-7", ["broken_link@-7", "missing@7"]],
    ["NULL", ["missing@7", "broken_link@21"]],
  ] as const) {
    await edit(
      `UPDATE audit_rows SET chain_seq = ${place} WHERE CHAIN AND prev_hash = (SELECT row_hash FROM audit_rows WHERE CHAIN AND chain_seq = 6)`,
    );
    const lines = (await Array.fromAsync(exportChain(database.db, chain, { tenantId: MINE }))).map((line) => line.trimEnd());
    for (const result of [await verifyChain(database.db, chain, { tenantId: MINE }), await verifyExport(lines)]) {
      expect(result.findings.map((finding) => `${finding.verdict}@${finding.chain_seq}`)).toEqual([...found]);
    }
  }
});

test("an invalid entry among the signing keys is ignored", async () => {
  await sql`INSERT INTO audit_keys (key_id, name, public_key, valid_from) VALUES ('none', 'gw.audit', 'AAAA', now())`.execute(database.db);
  expect(await findings()).toEqual([]);
  await sql`DELETE FROM audit_keys WHERE key_id = 'none'`.execute(database.db);
});

test("an acknowledged gap stays acknowledged in part of the chain, and a wider gap is not", async () => {
  await edit("DELETE FROM audit_rows WHERE CHAIN AND chain_seq BETWEEN 8 AND 10");
  const gaps = async (range: { fromSeq?: number; toSeq?: number }) =>
    (await verifyChain(database.db, chain, range)).findings.filter(({ verdict }) => verdict === "missing");
  const [gap] = await gaps({});
  expect(gap).toMatchObject({ chain_seq: 8, through_seq: 10 });
  expect((await gaps({ fromSeq: 9 }))[0]?.acknowledged_at).toBeNull();
  const { id, verdict, chain_seq, through_seq, detail } = gap as MarkedFinding;
  const known = { finding_id: id, verdict, chain_seq, through_seq, detail, head_hash: null };
  const who = { note: "The disk was lost.", acknowledged_by: "owner", acknowledged_at: new Date() };
  await database.db.transaction().execute((trx) => putAcknowledgements(trx, chain, null, [{ ...known, ...who }]));
  for (const range of [{}, { fromSeq: 9 }, { toSeq: 9 }, { fromSeq: 9, toSeq: 9 }])
    expect(await gaps(range)).toMatchObject([{ id, acknowledged_by: "owner" }]);
  await edit("DELETE FROM audit_rows WHERE CHAIN AND chain_seq = 11");
  for (const range of [{}, { fromSeq: 9 }]) expect(await gaps(range)).toMatchObject([{ through_seq: 11, acknowledged_at: null }]);
});

test("part of a chain is verified; an unknown chain and an invalid range are refused", async () => {
  expect(await verifyChain(database.db, chain, { fromSeq: 1, toSeq: 5 })).toMatchObject({ verdict: "intact", rows_checked: 5 });
  expect(await verifyChain(database.db, chain, { fromSeq: 6, toSeq: 9 })).toMatchObject({
    verdict: "unanchored",
    rows_checked: 4,
    findings: [{ chain_seq: 6 }],
  });
  await edit("UPDATE audit_rows SET success = false WHERE CHAIN AND chain_seq = 8");
  expect(await verifyChain(database.db, chain, { fromSeq: 6, toSeq: 9 })).toMatchObject({ verdict: "altered" });
  await expect(verifyChain(database.db, "01JQ0000000000000000000000")).rejects.toThrow(Refused);
  await expect(verifyChain(database.db, chain, { fromSeq: 5, toSeq: 4 })).rejects.toThrow(Refused);
});

test("a chain with a prefix dropped by retention is intact from its last checkpoint on", async () => {
  await edit("DELETE FROM audit_rows WHERE CHAIN");
  await edit("UPDATE audit_chains SET first_seq = 21 WHERE CHAIN");
  expect(await findings()).toEqual([]);
  await edit("UPDATE audit_chains SET first_seq = 20 WHERE CHAIN");
  expect((await verifyChain(database.db, chain)).verdict).toBe("missing");
});

test("texts that need escaping in CSV or JSON are verified unchanged", async () => {
  const odd = await testLedger(database.db, temporaryDirectory());
  chain = odd.chainId;
  const texts = [
    "null",
    "",
    " ",
    "a,b",
    'a"b',
    '""',
    "a\\b",
    "\\N",
    "\\.",
    "line\nline",
    "line\r\n",
    "tab\t",
    "\u0001",
    "\u007f",
    "é",
    "\u2028",
    "𝔘",
    '","x',
  ];
  for (const text of texts) await odd.seal(callRow({ endpoint: text, mcp_capability_name: text, turn_id: text }));
  await odd.close();
  expect(await findings()).toEqual([]);
  await edit("UPDATE audit_rows SET turn_id = turn_id || ' ' WHERE CHAIN AND chain_seq = 10");
  await edit("UPDATE audit_rows SET timestamp = 'infinity' WHERE CHAIN AND chain_seq = 12");
  await edit("UPDATE audit_rows SET http_status_code = 9007199254740993 WHERE CHAIN AND chain_seq = 14");
  expect(await findings()).toEqual(["altered@10", "altered@12", "altered@14"]);
});

test("a chain of many pages is read without losing or repeating a row between pages", async () => {
  const long = await testLedger(database.db, temporaryDirectory());
  chain = long.chainId;
  for (let i = 0; i < 45; i++)
    await Promise.all(Array.from({ length: 100 }, () => long.seal(callRow({ request_body_preview: null, response_body_preview: null }))));
  await long.close();
  expect(await verifyChain(database.db, chain)).toMatchObject({ verdict: "intact", rows_checked: 4_500 });
  expect(await verifyChain(database.db, chain, { fromSeq: 1_001, toSeq: 3_500 })).toMatchObject({ verdict: "intact", rows_checked: 2_500 });
  expect(await verifyChain(database.db, chain, { tenantId: MINE })).toMatchObject({
    verdict: "intact",
    rows_checked: 4_500,
    rows_withheld: 4_500,
  });
  await edit(
    "INSERT INTO audit_rows (id, chain_id, chain_seq, prev_hash, row_hash) SELECT chr(39) || 'copy' || chain_seq, chain_id, chain_seq, prev_hash, row_hash FROM audit_rows WHERE CHAIN AND chain_seq IN (2000, 2001)",
  );
  await edit("UPDATE audit_rows SET chain_seq = NULL WHERE CHAIN AND chain_seq = 4000");
  expect(await findings()).toContain("missing@4000");
});

test("chains and keys are listed with their current state", async () => {
  const { headHash } = ledger.status();
  expect(await listChains(database.db)).toMatchObject([
    {
      chain_id: chain,
      first_seq: 1,
      head_seq: 20,
      head_hash: headHash,
      last_checkpoint_seq: 20,
      updated_at: expect.stringMatching(/^\d{4}-.*\.\d{6}Z$/),
    },
  ]);
  expect(await listSigningKeys(database.db)).toMatchObject([
    { name: "gw.audit", key_id: expect.stringMatching(/^[0-9a-f]{8}$/), valid_to: null },
  ]);
});

test("verification of a chain that is being written has no findings", async () => {
  const busy = await testLedger(database.db, temporaryDirectory(), { segmentBytes: 300_000 });
  let stop = false;
  const writing = (async () => {
    while (!stop) {
      for (let i = 0; i < 10; i++) await Promise.all(Array.from({ length: 30 }, () => busy.seal(callRow())));
      await busy.shipped();
    }
  })();
  for (let i = 0; i < 12; i++) {
    expect(await verifyChain(database.db, busy.chainId)).toMatchObject({ verdict: "intact", findings: [] });
    const { shippedSeq: chainSeq, shippedHash: rowHash } = busy.status();
    expect((await verifyChain(database.db, busy.chainId, { knownHeads: [{ chainSeq, rowHash }] })).verdict).toBe("intact");
  }
  stop = true;
  await writing;
  await busy.close();
});
