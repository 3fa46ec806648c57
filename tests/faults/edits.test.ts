import { describe, expect, test } from "bun:test";
import { GENESIS_HASH } from "@gatehouse/ledger-format/canonical";
import { checkpointDigest, checkpointText, parseCheckpointText, signCheckpoint } from "@gatehouse/ledger-format/checkpoint";
import { type AuditRow, FIELDS, type FieldName } from "@gatehouse/ledger-format/fields";
import { HASH_FORMATS } from "@gatehouse/ledger-format/hash-formats";
import { noteText } from "@gatehouse/ledger-format/signed-note";
import { type Entry, feed, newSigner, rowAt, sealed, type TestChain, testChain } from "../../packages/ledger-format/src/test-chain.ts";
import { callRow } from "../../server/ledger/test-support.ts";

/**
 * Someone with write access to the stored chain makes one edit: each is detected with the right verdict, at the first wrong row. Retention
 * and erasure raise no alarm.
 */
const EDITS = Number(process.env.CHAIN_EDITS ?? 2_000);
const UNTOUCHED = Number(process.env.CHAINS_UNTOUCHED ?? 300);

/** Random numbers that are the same on every run. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

const signer = newSigner();
const stranger = newSigner();

function newChain(length: number, every: number, chainId?: string): TestChain {
  return testChain(
    Array.from({ length }, () => callRow()),
    { every, signer, ...(chainId === undefined ? {} : { chainId }) },
  );
}

type Finding = `${string}@${number}`;
type Roll = (sides: number) => number;

const HASHED = HASH_FORMATS.v2.filter((name) => name !== "id");
const rowsOf = (chain: TestChain) => chain.entries.filter((entry) => entry.type === "row");
const checkpointsOf = (chain: TestChain) =>
  chain.entries.filter((entry) => entry.type === "checkpoint") as Extract<Entry, { type: "checkpoint" }>[];
const indexOfRow = (chain: TestChain, seq: number) =>
  chain.entries.findIndex((entry) => entry.type === "row" && entry.row.chain_seq === seq);

function changed(value: unknown, field: FieldName, roll: Roll): unknown {
  if (value === null || value === undefined)
    return FIELDS[field].type === "boolean"
      ? true
      : FIELDS[field].type === "integer"
        ? 1
        : FIELDS[field].type === "timestamp"
          ? "2026-01-01T00:00:00.000000Z"
          : "x";
  if (typeof value === "boolean") return !value;
  if (typeof value === "number") return value + 1 + roll(9);
  const text = value as string;
  if (FIELDS[field].type === "timestamp") return `${text.slice(0, -2)}${(Number(text.at(-2)) + 1 + roll(9)) % 10}Z`;
  const at = roll(text.length);
  return `${text.slice(0, at)}${text[at] === "x" ? "y" : "x"}${text.slice(at + 1)}`;
}

/** Each makes one edit and returns what must be found first; the worst finding is the verdict. */
const EDIT_KINDS: Readonly<Record<string, (chain: TestChain, roll: Roll) => { verdict: string; first: Finding }>> = {
  "a field is changed"(chain, roll) {
    const seq = 1 + roll(rowsOf(chain).length);
    const field = HASHED[roll(HASHED.length)] as FieldName;
    const row = rowAt(chain, seq) as Record<string, unknown>;
    row[field] = changed(row[field], field, roll);
    return { verdict: "altered", first: `altered@${seq}` };
  },
  "a row is deleted"(chain, roll) {
    const seq = 1 + roll(rowsOf(chain).length);
    chain.entries.splice(indexOfRow(chain, seq), 1);
    return { verdict: "missing", first: `missing@${seq}` };
  },
  "two neighbouring rows are swapped"(chain, roll) {
    const seq = 1 + roll(rowsOf(chain).length - 1);
    const [one, two] = [rowAt(chain, seq), rowAt(chain, seq + 1)];
    [one.chain_seq, two.chain_seq] = [two.chain_seq as number, one.chain_seq as number];
    const [at, next] = [indexOfRow(chain, seq + 1), indexOfRow(chain, seq)];
    [chain.entries[at], chain.entries[next]] = [chain.entries[next] as Entry, chain.entries[at] as Entry];
    // The position itself is not hashed: the error shows because neither row follows the one before it.
    return { verdict: "*", first: seq === 1 ? "missing@1" : `broken_link@${seq}` };
  },
  "the end is truncated, and the recorded head with it"(chain, roll) {
    const checkpoints = checkpointsOf(chain);
    const kept = checkpoints.at(-1)?.chain_seq ?? 0;
    const seq = kept - 1 - roll(Math.min(3, kept - 1));
    chain.entries = chain.entries.filter((entry) => entry.type !== "row" || (entry.row.chain_seq as number) <= seq);
    chain.chain = { ...chain.chain, head_seq: seq, head_hash: rowAt(chain, Math.max(1, seq)).row_hash as string };
    return { verdict: "missing", first: `missing@${seq + 1}` };
  },
  "a checkpoint is signed by another key"(chain, roll) {
    const line = pick(checkpointsOf(chain), roll);
    (line as { note: string }).note = stranger.sign(noteText(line.note) as string);
    return { verdict: "checkpoint_invalid", first: `checkpoint_invalid@${line.chain_seq}` };
  },
  "a checkpoint is replaced by an older one"(chain, roll) {
    const lines = checkpointsOf(chain);
    const at = 1 + roll(lines.length - 1);
    const line = lines[at] as Extract<Entry, { type: "checkpoint" }>;
    (line as { note: string }).note = lines[roll(at)]?.note as string;
    return { verdict: "checkpoint_invalid", first: `checkpoint_invalid@${line.chain_seq}` };
  },
  "a checkpoint is removed"(chain, roll) {
    const lines = checkpointsOf(chain);
    const at = roll(lines.length - 1);
    chain.entries.splice(chain.entries.indexOf(lines[at] as Entry), 1);
    return { verdict: "checkpoint_invalid", first: `checkpoint_invalid@${lines[at + 1]?.chain_seq as number}` };
  },
  "a row is replaced by one of another chain"(chain, roll) {
    const seq = 1 + roll(rowsOf(chain).length);
    const other = newChain(rowsOf(chain).length, 5, "01JQ0000000000000000000009");
    chain.entries[indexOfRow(chain, seq)] = { type: "row", row: rowAt(other, seq) };
    return { verdict: "*", first: `broken_link@${seq}` };
  },
  "a row is changed and its hash recomputed"(chain, roll) {
    const seq = 1 + roll(rowsOf(chain).length - 1);
    const row = rowAt(chain, seq);
    const forged = sealed({ ...row, http_status_code: 299 }, seq, row.prev_hash as string);
    chain.entries[indexOfRow(chain, seq)] = { type: "row", row: forged };
    const signed = checkpointsOf(chain).some((line) => line.chain_seq === seq);
    return { verdict: "*", first: signed ? `checkpoint_invalid@${seq}` : `broken_link@${seq + 1}` };
  },
  "all hashes from a row on are recomputed and signed with another key"(chain, roll) {
    const from = 1 + roll(rowsOf(chain).length);
    let prev = from === 1 ? GENESIS_HASH : (rowAt(chain, from - 1).row_hash as string);
    let first: number | null = null;
    let previous: string | null = null;
    chain.entries = chain.entries.map((entry): Entry => {
      if (entry.type === "row" && (entry.row.chain_seq as number) >= from) {
        const row: AuditRow = sealed({ ...entry.row, http_status_code: 299 }, entry.row.chain_seq as number, prev);
        prev = row.row_hash as string;
        return { type: "row", row };
      }
      if (entry.type !== "checkpoint") return entry;
      const checkpoint = parseCheckpointText(noteText(entry.note) as string);
      if (checkpoint === null) throw new Error("a checkpoint of the chain cannot be read");
      if (entry.chain_seq < from) {
        previous = checkpointDigest(checkpointText(checkpoint));
        return entry;
      }
      first ??= entry.chain_seq;
      const forged = { ...checkpoint, rowHash: prev, previous };
      previous = checkpointDigest(checkpointText(forged));
      return { ...entry, note: signCheckpoint(forged, stranger) };
    });
    chain.chain = { ...chain.chain, head_hash: prev };
    return { verdict: "checkpoint_invalid", first: `checkpoint_invalid@${first ?? 0}` };
  },
  "a byte of a signature is flipped"(chain, roll) {
    const line = pick(checkpointsOf(chain), roll);
    const at = line.note.length - 3 - roll(80);
    const flipped = line.note[at] === "A" ? "B" : "A";
    (line as { note: string }).note = `${line.note.slice(0, at)}${flipped}${line.note.slice(at + 1)}`;
    return { verdict: "checkpoint_invalid", first: `checkpoint_invalid@${line.chain_seq}` };
  },
};

function pick<T>(list: readonly T[], roll: Roll): T {
  return list[roll(list.length)] as T;
}

describe("one edit of a stored chain", () => {
  const kinds = Object.entries(EDIT_KINDS);
  const each = Math.ceil(EDITS / kinds.length);
  let found = 0;
  for (const [index, [kind, edit]] of kinds.entries()) {
    test(`${kind}: detected at its position, ${each} times of ${each}`, () => {
      const roll = dice(index + 1);
      for (let round = 0; round < each; round++) {
        const chain = newChain(12 + roll(10), 4 + roll(3));
        const expected = edit(chain, roll);
        const result = feed(chain);
        const first = result.findings.toSorted((a, b) => a.chain_seq - b.chain_seq).map((one) => `${one.verdict}@${one.chain_seq}`);
        if (
          !first.includes(expected.first) ||
          result.findings.some((one) => one.chain_seq < Number(expected.first.split("@")[1])) ||
          (expected.verdict !== "*" && result.verdict !== expected.verdict)
        ) {
          throw new Error(
            `round ${round}: expected ${expected.verdict}, first ${expected.first}; got ${result.verdict}: ${first.join(", ")}`,
          );
        }
        found++;
      }
    });
  }

  test("all edits are detected", () => {
    console.log(`  ${found} edits of ${kinds.length} kinds, ${found} found with their verdict and place`);
    expect(found).toBe(each * kinds.length);
  });
});

test(`${UNTOUCHED} chains with pruned, reduced and erased rows and dropped beginnings raise no false alarm`, () => {
  const roll = dice(99);
  const unhashed = (Object.keys(FIELDS) as FieldName[]).filter(
    (name) =>
      !(HASH_FORMATS.v2 as readonly FieldName[]).includes(name) &&
      !["created_at", "chain_id", "chain_seq", "prev_hash", "row_hash"].includes(name),
  );
  let rows = 0;
  for (let round = 0; round < UNTOUCHED; round++) {
    const chain = newChain(12 + roll(10), 4);
    for (const entry of chain.entries) {
      if (entry.type !== "row") continue;
      const kind = roll(4);
      const row = entry.row as Record<string, unknown>;
      if (kind === 1)
        Object.assign(row, { request_body_preview: null, response_body_preview: null, bodies_pruned_at: "2026-11-21T10:00:00.000000Z" });
      if (kind === 2)
        Object.assign(row, {
          request_body_preview: null,
          gateway_user_id: null,
          client_ip: null,
          custom_metadata: null,
          erased_at: "2026-11-21T10:00:00.000000Z",
        });
      if (kind === 3) for (const name of unhashed) row[name] = null;
      rows++;
    }
    const dropped = roll(3) * 4;
    if (dropped > 0) {
      const line = checkpointsOf(chain).find((one) => one.chain_seq === dropped) as Extract<Entry, { type: "checkpoint" }>;
      const hash = rowAt(chain, dropped).row_hash as string;
      chain.entries = chain.entries.slice(chain.entries.indexOf(line) + 1);
      chain.entries.unshift({ type: "pruned", through_seq: dropped, row_hash: hash, checkpoint: line.note });
      chain.chain = { ...chain.chain, first_seq: dropped + 1 };
    }
    const result = feed(chain);
    expect([result.verdict, result.findings, result.pruned_through]).toEqual(["intact", [], dropped === 0 ? null : dropped]);
  }
  console.log(`  ${UNTOUCHED} chains of ${rows} rows, 0 false alarms`);
});

test("verification is fast enough to run often", () => {
  const chain = newChain(20_000, 1_000);
  feed(newChain(2_000, 1_000));
  // CPU time, which is more reliable than wall time on a shared machine.
  const started = process.cpuUsage();
  expect(feed(chain).verdict).toBe("intact");
  const { user, system } = process.cpuUsage(started);
  const seconds = (user + system) / 1_000_000;
  console.log(`  ${Math.round(20_000 / seconds)} rows verified a second of a core`);
  // The minimum on a busy machine; an idle core does several times as many.
  expect(20_000 / seconds).toBeGreaterThan(5_000);
});
