import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { verifyChain } from "../../server/ledger/chains/chains.ts";
import { scanJournal } from "../../server/ledger/journal/scan.ts";
import { JournalDamaged } from "../../server/ledger/journal/journal-contents.ts";
import { type JournalFiles, journalFiles, listSegments, segmentPath } from "../../server/ledger/journal/segments.ts";
import { copyAsCrashed, callRow, recordedLog, temporaryDirectory, testLedger } from "../../server/ledger/test-support.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { removeDirectory } from "../support/gateway.ts";

/**
 * The journal's files are torn, bit-flipped and cut short by a full disk: everything that was acknowledged is there, and damage is
 * reported.
 */
const FLIPS = Number(process.env.JOURNAL_FLIPS ?? 300);
const TEARS = Number(process.env.JOURNAL_TEARS ?? 100);
const FULL_DISKS = Number(process.env.FULL_DISKS ?? 15);

let database: TestDatabase;
/** Journals from which nothing was shipped, as left by a kill: one of several segments, one of a single segment. */
let whole: string;
let single: string;

async function journalOf(calls: number, segmentBytes: number): Promise<string> {
  const directory = temporaryDirectory();
  const ledger = await testLedger(database.db, directory, {
    segmentBytes,
    ship: () => Promise.reject(new Error("away")),
    closeMs: 1,
    checkpointMs: 3_600_000,
  });
  for (let i = 0; i < calls; i++) {
    const row = callRow();
    ledger.begin(row);
    await ledger.seal(row);
  }
  const left = copyAsCrashed(directory);
  await ledger.close();
  await removeDirectory(directory);
  return left;
}

beforeAll(async () => {
  database = await testDatabase();
  whole = await journalOf(20, 12_000);
  single = await journalOf(20, 1_000_000);
});
afterAll(async () => {
  await database.close();
  await Promise.all([whole, single].map(removeDirectory));
});

/** Random numbers that are the same on every run. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

test(`${FLIPS} flipped bytes in closed segments: each is reported with its file, and the files stay unchanged`, async () => {
  const roll = dice(1);
  const closed = listSegments(whole).slice(0, -1);
  expect(closed.length).toBeGreaterThan(3);
  let refused = 0;
  for (let round = 0; round < FLIPS; round++) {
    const segment = closed[roll(closed.length)] as (typeof closed)[number];
    const path = segmentPath(whole, segment.number);
    const before = readFileSync(path);
    const flipped = Buffer.from(before);
    const at = roll(flipped.length);
    flipped[at] = (flipped[at] as number) ^ (1 << roll(8));
    writeFileSync(path, flipped);
    let error: unknown = null;
    try {
      scanJournal(whole, journalFiles, recordedLog());
    } catch (thrown) {
      error = thrown;
    }
    if (!(error instanceof JournalDamaged) || !error.message.includes(path))
      throw new Error(`byte ${at} of segment ${segment.number} was flipped, and the scan said ${String(error)}`);
    expect(readFileSync(path).equals(flipped)).toBe(true);
    writeFileSync(path, before);
    refused++;
  }
  console.log(`  ${FLIPS} bytes flipped, ${refused} refused naming file and place`);
});

test(`${TEARS} records truncated at the end: earlier records stay, and the truncated call is recorded as interrupted`, async () => {
  const roll = dice(2);
  const path = segmentPath(single, listSegments(single).at(-1)?.number as number);
  const bytes = readFileSync(path);
  // The last record is the sealed row of the last call.
  const start = bytes.lastIndexOf("\n", bytes.length - 2) + 1;
  expect(bytes[start]).toBe("R".charCodeAt(0));
  for (let round = 0; round < TEARS; round++) {
    const end = start + roll(bytes.length - start);
    truncateSync(path, end);
    const log = recordedLog();
    const scan = scanJournal(single, journalFiles, log);
    expect([scan?.unsealed.size, scan?.head.seq]).toEqual([1, 19]);
    expect(statSync(path).size).toBe(start);
    expect(log.events.map(({ event }) => event)).toEqual(end === start ? [] : ["audit_journal_torn_end"]);
    writeFileSync(path, bytes);
  }
  console.log(`  ${TEARS} torn ends healed; the torn call is sealed as interrupted each time`);
});

test(`${FULL_DISKS} disks that fill up under load: every acknowledged row is there, and no call is served unrecorded`, async () => {
  const roll = dice(3);
  let acknowledged = 0;
  let refused = 0;
  for (let round = 0; round < FULL_DISKS; round++) {
    const directory = temporaryDirectory();
    let room = 50_000 + roll(200_000);
    const files: JournalFiles = {
      ...journalFiles,
      write(fd, bytes) {
        if (room === 0) throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
        const part = bytes.subarray(0, Math.min(bytes.length, room));
        room -= part.length;
        return journalFiles.write(fd, part);
      },
    };
    const ledger = await testLedger(database.db, directory, { files, segmentBytes: 60_000, closeMs: 2_000 });
    const begun: string[] = [];
    const notBegun = new Set<string>();
    const stored = new Set<string>();
    await Promise.all(
      Array.from({ length: 6 }, async () => {
        for (;;) {
          const row = callRow();
          try {
            ledger.begin(row);
          } catch {
            // A call whose begin marker failed was never sent. The marker may be there all the same; its row then says that it was
            // interrupted.
            notBegun.add(row.id as string);
            refused++;
            return;
          }
          begun.push(row.id as string);
          await new Promise((resolve) => setImmediate(resolve));
          try {
            await ledger.seal(row);
            stored.add(row.id as string);
          } catch {
            refused++;
            return;
          }
        }
      }),
    );
    expect(ledger.accepting()).toBe(false);
    await ledger.close();
    // The disk has space again, and the gateway is restarted.
    const next = await testLedger(database.db, directory);
    await next.shipped();
    await next.close();
    const rows = await database.db
      .selectFrom("audit_rows")
      .select(["id", "success", "error_type"])
      .where("chain_id", "=", next.chainId)
      .execute();
    expect(
      rows
        .map((row) => row.id as string)
        .filter((id) => !notBegun.has(id))
        .toSorted(),
    ).toEqual(begun.toSorted());
    expect(rows.filter((row) => stored.has(row.id as string) && row.success !== true)).toEqual([]);
    expect(rows.filter((row) => row.success !== true && row.error_type !== "gateway_interrupted")).toEqual([]);
    expect(await verifyChain(database.db, next.chainId)).toMatchObject({ verdict: "intact", findings: [] });
    acknowledged += stored.size;
    await removeDirectory(directory);
  }
  console.log(`  ${FULL_DISKS} full disks: ${acknowledged} rows acknowledged, 0 lost; ${refused} calls refused`);
});
