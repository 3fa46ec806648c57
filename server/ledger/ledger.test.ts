import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { appendFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { rowHash } from "@gatehouse/ledger-format/canonical";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { PATIENCE_MS } from "../../tests/support/patience.ts";
import { until } from "../../tests/support/until.ts";
import { shipAuditRows } from "../store/ledger/audit-shipping.ts";
import { verifyChain } from "./chains/chains.ts";
import { ChainUnproven } from "./journal/chain-unproven.ts";
import { JournalDamaged } from "./journal/journal-contents.ts";
import { journalFiles, listSegments, segmentPath } from "./journal/segments.ts";
import { copyAsCrashed, callRow, recordedLog, temporaryDirectory, testLedger } from "./test-support.ts";
import { JournalInUse } from "./journal/writer-lock.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

const rowsOf = (chainId: string) =>
  database.db.selectFrom("audit_rows").selectAll().where("chain_id", "=", chainId).orderBy("chain_seq").execute();

async function expectIntact(chainId: string, rows: number): Promise<void> {
  expect(await verifyChain(database.db, chainId)).toMatchObject({ verdict: "intact", findings: [], rows_checked: rows });
}

test("a sealed row arrives in the database unchanged, once, at its position", async () => {
  const ledger = await testLedger(database.db, temporaryDirectory());
  const row = callRow({ endpoint: "/gr\u00f6\u00dfe/\u{1F600}", tags: ["late"], custom_metadata: { a: 1 } });
  ledger.begin(row);
  expect(ledger.status().openCalls).toBe(1);
  await ledger.seal(row);
  expect(row).toMatchObject({ chain_id: ledger.chainId, chain_seq: 1, source: "gateway", prev_hash: "0".repeat(64) });
  await ledger.shipped();
  const [stored, ...others] = await rowsOf(ledger.chainId);
  expect(others).toEqual([]);
  expect(stored).toMatchObject({
    id: row.id as string,
    row_hash: row.row_hash as string,
    endpoint: row.endpoint as string,
    tags: ["late"],
    custom_metadata: { a: 1 },
    llm_estimated_cost_usd: 0.000375,
  });
  expect(ledger.status()).toMatchObject({
    headSeq: 1,
    shippedSeq: 1,
    openCalls: 0,
    unshippedRows: 0,
    oldestUnshippedAt: null,
    failed: null,
  });
  await ledger.close();
  await expectIntact(ledger.chainId, 1);
});

test("rows sealed during a shipment are shipped together", async () => {
  const sizes: number[] = [];
  const first = Promise.withResolvers<void>();
  const ledger = await testLedger(database.db, temporaryDirectory(), {
    shipWaitMs: 100,
    async ship(db, shipment) {
      sizes.push(shipment.rows.length);
      // Two rows arrive during the first shipment, and one right after it.
      if (sizes.length === 1) await Promise.all([ledger.seal(callRow()), ledger.seal(callRow())]);
      const moved = await shipAuditRows(db, shipment);
      if (sizes.length === 1) first.resolve();
      return moved;
    },
  });
  await ledger.seal(callRow());
  await first.promise;
  await ledger.seal(callRow());
  await ledger.close();
  expect(sizes).toEqual([1, 3]);
  await expectIntact(ledger.chainId, 4);
});

test("rows stored in the database are removed from the journal's files after a while, even with little traffic", async () => {
  const directory = temporaryDirectory();
  const ledger = await testLedger(database.db, directory, { checkpointMs: 10, segmentMs: 20 });
  const journal = () =>
    listSegments(directory)
      .map(({ number }) => readFileSync(segmentPath(directory, number), "utf8"))
      .join("");
  await ledger.seal(callRow({ request_body_preview: "what was asked in confidence" }));
  expect(journal()).toContain("in confidence");
  await until(journal, (kept) => !kept.includes("in confidence"));
  await ledger.close();
  await expectIntact(ledger.chainId, 1);
});

test("a call sealed twice has one row", async () => {
  const log = recordedLog();
  const ledger = await testLedger(database.db, temporaryDirectory(), { log });
  const row = callRow();
  await ledger.seal(row);
  await ledger.seal(callRow({ id: row.id as string }));
  await ledger.close();
  expect(log.events.map((entry) => entry.event)).toContain("audit_row_sealed_twice");
  await expectIntact(ledger.chainId, 1);
});

test("a call that was sealed cannot begin again, so that the next start does not record it twice", async () => {
  const directory = temporaryDirectory();
  const ledger = await testLedger(database.db, directory);
  const row = callRow();
  ledger.begin(row);
  await ledger.seal(row);
  expect(() => ledger.begin(row)).toThrow("the call is over");
  await ledger.close();
  const again = await testLedger(database.db, directory);
  await again.seal(callRow());
  await again.close();
  expect(await rowsOf(again.chainId)).toHaveLength(2);
  await expectIntact(again.chainId, 2);
});

test("characters that the database cannot store do not stop the chain", async () => {
  const ledger = await testLedger(database.db, temporaryDirectory());
  await ledger.seal(callRow({ endpoint: "/\0\ud800", request_body_preview: "\0", custom_metadata: { "\0": "\udfff" } }));
  await ledger.seal(callRow());
  await ledger.close();
  expect((await rowsOf(ledger.chainId))[0]).toMatchObject({ endpoint: "/\ufffd\ufffd", request_body_preview: "\ufffd" });
  await expectIntact(ledger.chainId, 2);
});

test("a row that the database refuses keeps its position and hashed fields, and later rows are shipped", async () => {
  const ledger = await testLedger(database.db, temporaryDirectory());
  const deep = JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`) as unknown;
  await Promise.all([callRow(), callRow({ pre_action_state: deep }), callRow(), callRow()].map((row) => ledger.seal(row)));
  await ledger.shipped();
  const rows = await rowsOf(ledger.chainId);
  expect(rows.map((row) => row.chain_seq)).toEqual([1, 2, 3, 4]);
  expect(rows[1]).toMatchObject({ pre_action_state: null, endpoint: "/v1/llm/chat/completions", error_message: null });
  expect(JSON.stringify(rows[1]?.custom_metadata)).toContain("ship_error");
  await ledger.close();
  await expectIntact(ledger.chainId, 4);
});

test("usage is summed per hour from the inserted rows", async () => {
  const ledger = await testLedger(database.db, temporaryDirectory());
  const tenant_id = "11111111-1111-4111-8111-111111111111";
  const timestamp = "2026-11-21T09:59:59.999999Z";
  await ledger.seal(callRow({ tenant_id, timestamp, api_key_id: null }));
  await ledger.seal(callRow({ tenant_id, timestamp, api_key_id: null, success: false, llm_estimated_cost_usd: null }));
  await ledger.seal(callRow({ tenant_id, timestamp: "2026-11-21T10:00:00.000000Z", llm_estimated_cost_usd: 0.0000015 }));
  await ledger.seal(callRow({ tenant_id, timestamp, proxy_type: "mcp" }));
  await ledger.seal(callRow({ tenant_id, timestamp, llm_model_used: null }));
  await ledger.close();
  const usage = await database.db.selectFrom("usage_hourly").selectAll().where("tenant_id", "=", tenant_id).orderBy("hour").execute();
  expect(usage).toMatchObject([
    {
      api_key_id: "",
      requests: 2,
      errors: 1,
      prompt_tokens: 240,
      completion_tokens: 60,
      cost_micro_usd: 375,
      unpriced_requests: 1,
      hour: new Date("2026-11-21T09:00:00Z"),
    },
    { requests: 1, errors: 0, cost_micro_usd: 2, unpriced_requests: 0, hour: new Date("2026-11-21T10:00:00Z") },
  ]);
});

test("the chain's head is signed when idle, after 1,000 rows, and at the end", async () => {
  const ledger = await testLedger(database.db, temporaryDirectory(), { checkpointMs: 10 });
  await ledger.seal(callRow());
  const count = async () =>
    (await database.db.selectFrom("audit_checkpoints").select("chain_seq").where("chain_id", "=", ledger.chainId).execute()).length;
  while ((await count()) < 3) await ledger.shipped();
  await ledger.close();
  await expectIntact(ledger.chainId, 1);
  const busy = await testLedger(database.db, temporaryDirectory());
  await Promise.all(Array.from({ length: 2_500 }, () => busy.seal(callRow())));
  await busy.close();
  const signed = await database.db
    .selectFrom("audit_checkpoints")
    .select("chain_seq")
    .where("chain_id", "=", busy.chainId)
    .orderBy("checkpoint_no")
    .execute();
  expect(signed.map((checkpoint) => checkpoint.chain_seq)).toEqual([1_000, 2_000, 2_500]);
  await expectIntact(busy.chainId, 2_500);
});

test("a substitute checkpoint in a restored backup is replaced by the writer's own", async () => {
  const ledger = await testLedger(database.db, temporaryDirectory(), { checkpointMs: 3_600_000 });
  await ledger.seal(callRow());
  await ledger.shipped();
  const standIn = { chain_id: ledger.chainId, checkpoint_no: 1, chain_seq: 1, note: "stand-in", signed_at: new Date() };
  await database.db.insertInto("audit_checkpoints").values(standIn).execute();
  await ledger.close();
  await expectIntact(ledger.chainId, 1);
});

describe("after a crash", () => {
  test("a call in progress gets an interrupted row with what was known of it", async () => {
    const directory = temporaryDirectory();
    const ledger = await testLedger(database.db, directory);
    const [done, open] = [callRow(), callRow({ success: null, http_status_code: null })];
    ledger.begin(done);
    ledger.begin(open);
    await ledger.seal(done);
    await ledger.shipped();
    const left = copyAsCrashed(directory);
    const next = await testLedger(database.db, left);
    expect(next.chainId).toBe(ledger.chainId);
    await next.shipped();
    const rows = await rowsOf(next.chainId);
    expect(rows.map((row) => [row.id, row.success, row.error_type])).toEqual([
      [done.id as string, true, null],
      [open.id as string, false, "gateway_interrupted"],
    ]);
    expect(rows[1]).toMatchObject({ llm_model_used: "gpt-x", tenant_id: open.tenant_id as string, http_status_code: null });
    await next.close();
    // The writer believed dead finds that it may not continue.
    await ledger.seal(callRow());
    await expect(ledger.shipped()).rejects.toThrow();
    expect(ledger.accepting()).toBe(false);
    await ledger.close();
    await expectIntact(next.chainId, 2);
  });

  test("a torn end of the journal is cut off, and the rows before it stay", async () => {
    const directory = temporaryDirectory();
    const ledger = await testLedger(database.db, directory);
    await ledger.seal(callRow());
    const left = copyAsCrashed(directory);
    await ledger.close();
    for (const torn of ['R12345678{"id":"half', "\0".repeat(50), "Rffffffff{}\n"]) {
      const last = listSegments(left).at(-1)?.number as number;
      appendFileSync(segmentPath(left, last), torn);
      const log = recordedLog();
      const next = await testLedger(database.db, left, { log });
      expect(log.events.map((entry) => entry.event)).toContain("audit_journal_torn_end");
      await next.close();
    }
    const last = listSegments(left).at(-1)?.number as number;
    writeFileSync(segmentPath(left, last + 1), "H1234");
    await (await testLedger(database.db, left)).close();
    // The directory was synced before the end of the current segment.
    const full = listSegments(left).at(-1)?.number as number;
    appendFileSync(segmentPath(left, full), 'R12345678{"id":"half');
    writeFileSync(segmentPath(left, full + 1), "");
    await (await testLedger(database.db, left)).close();
    await expectIntact(ledger.chainId, 1);
  });

  test("a flipped byte in a stored record is refused with the file and position", async () => {
    const directory = temporaryDirectory();
    const ledger = await testLedger(database.db, directory, {
      segmentBytes: 4_000,
      ship: () => Promise.reject(new Error("away")),
      closeMs: 1,
    });
    for (let i = 0; i < 6; i++) await ledger.seal(callRow());
    await ledger.close();
    const [first, ...rest] = listSegments(directory);
    expect(rest.length).toBeGreaterThan(0);
    const path = segmentPath(directory, first?.number as number);
    const bytes = readFileSync(path);
    bytes[bytes.length - 10] = (bytes[bytes.length - 10] as number) ^ 1;
    writeFileSync(path, bytes);
    const refused = await testLedger(database.db, directory).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(JournalDamaged);
    expect((refused as Error).message).toContain(path);
    expect(statSync(path).size).toBe(bytes.length);
  });

  test("swapped segments are refused, because the chain would not be contiguous", async () => {
    const directory = temporaryDirectory();
    const ledger = await testLedger(database.db, directory, {
      segmentBytes: 4_000,
      ship: () => Promise.reject(new Error("away")),
      closeMs: 1,
    });
    for (let i = 0; i < 6; i++) await ledger.seal(callRow());
    await ledger.close();
    const [first, second] = listSegments(directory).map(({ number }) => segmentPath(directory, number)) as [string, string];
    const bytes = readFileSync(first);
    writeFileSync(first, readFileSync(second));
    writeFileSync(second, bytes);
    expect(await testLedger(database.db, directory).catch((error: unknown) => error)).toBeInstanceOf(JournalDamaged);
  });

  test("a lost journal starts a new chain, and an older copy continues at the database's head", async () => {
    const directory = temporaryDirectory();
    const ledger = await testLedger(database.db, directory);
    await ledger.seal(callRow());
    await ledger.shipped();
    const open = callRow();
    ledger.begin(open);
    const setBack = copyAsCrashed(directory);
    await ledger.seal(open);
    await ledger.close();
    // The call that was open in the older journal already has a row.
    const next = await testLedger(database.db, setBack);
    expect(next.status()).toMatchObject({ chainId: ledger.chainId, headSeq: 2 });
    await next.seal(callRow());
    await next.close();
    await expectIntact(next.chainId, 3);
    const fresh = await testLedger(database.db, temporaryDirectory());
    expect(fresh.chainId).not.toBe(ledger.chainId);
    await fresh.close();
  });

  test("unsigned rows in the database that the journal does not have are not continued", async () => {
    const directory = temporaryDirectory();
    const ledger = await testLedger(database.db, directory);
    await ledger.seal(callRow());
    await ledger.close();
    const { chainId, headHash } = ledger.status();
    const forged = callRow({ chain_id: chainId, chain_seq: 2, prev_hash: headHash });
    forged.row_hash = rowHash(forged, "v2", headHash);
    await sql`INSERT INTO audit_rows SELECT * FROM json_populate_record(null::audit_rows, ${JSON.stringify(forged)}::text::json)`.execute(
      database.db,
    );
    await sql`UPDATE audit_chains SET head_seq = 2, head_hash = ${forged.row_hash} WHERE chain_id = ${chainId}`.execute(database.db);
    const refused = await testLedger(database.db, directory).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ChainUnproven);
    expect((refused as Error).message).toContain(chainId);
    expect(await verifyChain(database.db, chainId)).toMatchObject({
      verdict: "unanchored",
      findings: [{ chain_seq: 2, row_id: forged.id as string }],
    });
  });
});

test("a journal that continues in another database logs so, and keeps its chain", async () => {
  const directory = temporaryDirectory();
  const ledger = await testLedger(database.db, directory);
  await ledger.seal(callRow());
  await ledger.close();
  const other = await testDatabase();
  const log = recordedLog();
  const moved = await testLedger(other.db, directory, { log });
  expect([moved.chainId, log.events.filter(({ event }) => event === "audit_chain_unknown_to_database")]).toEqual([
    ledger.chainId,
    [{ event: "audit_chain_unknown_to_database", fields: { chain_id: ledger.chainId, journal_seq: 1 } }],
  ]);
  await moved.close();
  const again = recordedLog();
  await (await testLedger(other.db, directory, { log: again })).close();
  expect(again.events.map(({ event }) => event)).not.toContain("audit_chain_unknown_to_database");
  await other.close();
});

test("a disk filled by rows already shipped is freed of them, and calls continue", async () => {
  const directory = temporaryDirectory();
  const size = 17 * 1024 * 1024;
  const used = () => listSegments(directory).reduce((sum, segment) => sum + segment.size, 0);
  const ledger = await testLedger(database.db, directory, { diskMs: 5, files: { ...journalFiles, free: () => size - used() } });
  let accepted = 0;
  for (const deadline = Date.now() + PATIENCE_MS; accepted < 400 && Date.now() < deadline;) {
    if (!ledger.accepting()) {
      await ledger.shipped();
      await new Promise((resolve) => setImmediate(resolve));
      continue;
    }
    const row = callRow({ error_message: "x".repeat(4_000) });
    ledger.begin(row);
    await ledger.seal(row);
    accepted++;
  }
  expect([accepted, ledger.status().failed]).toEqual([400, null]);
  expect(used()).toBeLessThan(1024 * 1024);
  await ledger.close();
  await expectIntact(ledger.chainId, 400);
});

test("a data directory has only one writer", async () => {
  const directory = temporaryDirectory();
  const ledger = await testLedger(database.db, directory);
  await expect(testLedger(database.db, directory)).rejects.toThrow(JournalInUse);
  await ledger.close();
  await (await testLedger(database.db, directory)).close();
});

describe("when the database is unreachable or restored", () => {
  test("no call fails during an outage, and all rows arrive in order afterwards", async () => {
    let away = true;
    const ship: typeof shipAuditRows = (db, shipment) =>
      away ? Promise.reject(new Error("connection refused")) : shipAuditRows(db, shipment);
    const ledger = await testLedger(database.db, temporaryDirectory(), { ship, segmentBytes: 50_000 });
    const open = callRow();
    ledger.begin(open);
    for (let i = 0; i < 12; i++) await Promise.all(Array.from({ length: 100 }, () => ledger.seal(callRow())));
    while (ledger.status().shippingError === null) await new Promise(setImmediate);
    expect(ledger.status()).toMatchObject({ unshippedRows: 1_200, shippedSeq: 0, failed: null });
    expect(ledger.status().oldestUnshippedAt).not.toBeNull();
    away = false;
    await ledger.shipped();
    await ledger.seal(open);
    await ledger.close();
    await expectIntact(ledger.chainId, 1_201);
  });

  test("a connection lost right after a commit duplicates nothing", async () => {
    let cuts = 0;
    const ship: typeof shipAuditRows = async (db, shipment) => {
      const moved = await shipAuditRows(db, shipment);
      if (cuts++ % 2 === 0) throw new Error("connection lost");
      return moved;
    };
    const tenant_id = "22222222-2222-4222-8222-222222222222";
    const ledger = await testLedger(database.db, temporaryDirectory(), { ship });
    for (let i = 0; i < 5; i++) {
      await ledger.seal(callRow({ tenant_id }));
      await ledger.shipped();
    }
    await ledger.close();
    expect(cuts).toBeGreaterThan(4);
    await expectIntact(ledger.chainId, 5);
    const { requests } = await database.db
      .selectFrom("usage_hourly")
      .select(sql<number>`sum(requests)`.as("requests"))
      .where("tenant_id", "=", tenant_id)
      .executeTakeFirstOrThrow();
    expect(requests).toBe(5);
  });

  test("a restored database gets the rows still in the journal, and the lost ones are reported missing", async () => {
    const log = recordedLog();
    const ledger = await testLedger(database.db, temporaryDirectory(), { segmentBytes: 4_000, log });
    const { chainId } = ledger;
    const sealed = async (rows: number) => {
      for (let i = 0; i < rows; i++) {
        await ledger.seal(callRow());
        await ledger.shipped();
      }
    };
    await sealed(2);
    const backup = await database.db.selectFrom("audit_chains").selectAll().where("chain_id", "=", chainId).executeTakeFirstOrThrow();
    await sealed(6);
    await sql`DELETE FROM audit_rows WHERE chain_id = ${chainId} AND chain_seq > ${backup.head_seq}`.execute(database.db);
    await database.db
      .updateTable("audit_chains")
      .set({
        head_seq: backup.head_seq,
        head_hash: backup.head_hash,
        shipped_segment: backup.shipped_segment,
        shipped_offset: backup.shipped_offset,
      })
      .where("chain_id", "=", chainId)
      .execute();
    await sealed(1);
    expect(ledger.status()).toMatchObject({ headSeq: 9, shippedSeq: 9, unshippedRows: 0, shippingError: null, failed: null });
    expect(log.events.map(({ event }) => event)).toContain("audit_database_set_back");
    await ledger.close();
    expect(await verifyChain(database.db, chainId)).toMatchObject({ verdict: "missing", findings: [{ chain_seq: 3 }] });
  });

  test.each([
    ["a time when an earlier process wrote the chain", "the database was set back to before this process was started", 1],
    ["a time before the chain", "the database was set back to before this process was started", null],
    ["the current time, while another process writes the chain", "another process writes to chain", 4],
  ])("a database reset to %s stops the ledger with the reason", async (_, reason, head) => {
    const ledger = await testLedger(database.db, temporaryDirectory());
    const { chainId } = ledger;
    for (let i = 0; i < 4; i++) await ledger.seal(callRow());
    await ledger.shipped();
    if (head === null) await database.db.deleteFrom("audit_chains").where("chain_id", "=", chainId).execute();
    else await database.db.updateTable("audit_chains").set({ head_seq: head, writer: "another" }).where("chain_id", "=", chainId).execute();
    await ledger.seal(callRow());
    await ledger.shipped().catch(() => undefined);
    expect(ledger.status().failed).toStartWith(reason);
    await ledger.close();
  });

  test("calls are refused while the journal is full, and accepted again once it is shipped", async () => {
    let away = true;
    const ship: typeof shipAuditRows = (db, shipment) =>
      away ? Promise.reject(new Error("connection refused")) : shipAuditRows(db, shipment);
    const ledger = await testLedger(database.db, temporaryDirectory(), { ship, maxBytes: 300_000 });
    let served = 0;
    while (ledger.accepting()) {
      const row = callRow();
      ledger.begin(row);
      await ledger.seal(row);
      served += 1;
    }
    expect(ledger.accepting()).toBe(false);
    expect(ledger.status().unshippedBytes).toBeLessThanOrEqual(300_000);
    away = false;
    await ledger.shipped();
    expect(ledger.accepting()).toBe(true);
    await ledger.close();
    await expectIntact(ledger.chainId, served);
  });
});
