import type { Anchor } from "@gatehouse/ledger-format/chain-facts";
import { ADMIN_CHAIN, type AdminEntry, entryMark } from "@gatehouse/ledger-format/admin-entry";
import type { TrustedKey } from "@gatehouse/ledger-format/checkpoint";
import { printExportLine, type ExportLine } from "@gatehouse/ledger-format/export";
import type { NoteSigner } from "@gatehouse/ledger-format/signed-note";
import { linkOf, possibleEntryHashes, sealedEntry } from "@gatehouse/ledger-format/sealed-row";
import { createVerifier } from "@gatehouse/ledger-format/verify";
import type { Verification } from "@gatehouse/ledger-format/verdict";
import { sql } from "kysely";
import type { Clock } from "../../kernel/clock.ts";
import { isoColumn } from "../../store/ledger/audit-columns.ts";
import { adminLogStartOf, type AdminLogRow } from "../../store/ledger/admin-log.ts";
import type { Database, Trx } from "../../store/database.ts";
import { chainReading } from "./chain-readings.ts";
import type { SignedCheckpoint } from "../journal/journal-contents.ts";
import { checkpointState, signHead } from "../checkpoints/sign-head.ts";
import { listSigningKeys, type AuditKey } from "../checkpoints/signing-keys.ts";

const BATCH = 500;
/** An idle log is signed too, but less often. */
const SILENCE_MS = 3_600_000;

type Line =
  | Extract<ExportLine, { type: "chain" | "checkpoint" }>
  | { readonly type: "entry"; readonly entry: AdminEntry; readonly withheld: boolean };

/**
 * A snapshot of the admin log for a verifier: the chain, then entries and checkpoints in order. With `tenantId`, entries of other tenants,
 * of no tenant and of an earlier tenant with the same ID are marked as withheld.
 */
function readAdminChain(db: Database, tenantId: string | undefined): AsyncGenerator<Line> {
  return chainReading(db, tenantId, () => readHeld(db, tenantId));
}

async function* readHeld(db: Database, tenantId: string | undefined): AsyncGenerator<Line> {
  const trx = await db.startTransaction().setIsolationLevel("repeatable read").setAccessMode("read only").execute();
  try {
    const { rows } = await sql<Omit<Extract<Line, { type: "chain" }>, "type">>`
      SELECT ${ADMIN_CHAIN}::text AS chain_id, 'control plane' AS writer, 1 AS first_seq, nullif(seq, 0) AS head_seq, CASE WHEN seq > 0 THEN hash END AS head_hash,
        (SELECT max(chain_seq) FROM admin_log_checkpoints) AS last_checkpoint_seq, ${isoColumn("updated_at")} AS updated_at,
        to_char(statement_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS exported_at
      FROM admin_log_head`.execute(trx);
    const chain = rows[0];
    if (chain === undefined) throw new Error("the head of the admin log is missing");
    yield { type: "chain", ...chain };
    const checkpoints = await trx.selectFrom("admin_log_checkpoints").select(["chain_seq", "note"]).orderBy("checkpoint_no").execute();
    const beginning = tenantId === undefined ? 0 : await adminLogStartOf(trx, tenantId);
    let next = 0;
    for await (const entry of readEntries(trx)) {
      for (; next < checkpoints.length && (checkpoints[next]?.chain_seq ?? 0) < entry.chain_seq; next++)
        yield { type: "checkpoint", ...(checkpoints[next] as (typeof checkpoints)[number]) };
      const shown = tenantId === undefined || (entry.tenant_id === tenantId && (entry.chain_seq ?? 0) >= beginning);
      yield { type: "entry", entry, withheld: !shown };
    }
    for (; next < checkpoints.length; next++) yield { type: "checkpoint", ...(checkpoints[next] as (typeof checkpoints)[number]) };
  } finally {
    await trx.rollback().execute();
  }
}

async function* readEntries(trx: Trx): AsyncGenerator<AdminEntry> {
  const entries = () => trx.selectFrom("admin_log").selectAll();
  const given = ({ at, ...row }: AdminLogRow) => ({ ...row, at: at.toISOString() }) as AdminEntry;
  for (let after = Number.MIN_SAFE_INTEGER; ;) {
    const rows = await entries().where("chain_seq", ">", after).orderBy("chain_seq").limit(BATCH).execute();
    for (const row of rows) yield given(row);
    if (rows.length < BATCH) break;
    after = rows.at(-1)?.chain_seq ?? after;
  }
  // Entries older than the chain have no position; newer ones without a position bypassed the chain.
  for (let after = ""; ;) {
    const rows = await entries()
      .where("chain_seq", "is", null)
      .where("id", ">", after)
      .where("at", ">", sql<Date>`(SELECT at FROM admin_log WHERE chain_seq = 1)`)
      .orderBy("id")
      .limit(BATCH)
      .execute();
    for (const row of rows) yield given(row);
    if (rows.length < BATCH) return;
    after = rows.at(-1)?.id ?? after;
  }
}

interface AdminVerification {
  readonly keys: readonly TrustedKey[];
  readonly tenantId: string | undefined;
  /** Heads known from a source other than this database. */
  readonly knownHeads: readonly Anchor[];
  /** Maximum number of findings listed; further ones are only counted. */
  readonly maxFindings: number | undefined;
}

/** Verifies the admin log. `as_of` is the database's time of the snapshot. */
export async function verifyAdminChain(
  db: Database,
  { keys, tenantId, knownHeads, maxFindings }: AdminVerification,
): Promise<Verification & { readonly as_of: string }> {
  const most = maxFindings === undefined ? {} : { maxFindings };
  let verifier: ReturnType<typeof createVerifier> | undefined;
  let asOf = "";
  for await (const line of readAdminChain(db, tenantId)) {
    if (line.type === "chain") {
      asOf = line.exported_at;
      verifier = createVerifier({ chain: line, keys, now: asOf, knownHeads, ...most });
    } else if (line.type === "entry") verifier?.entry(line.entry, line.withheld);
    else verifier?.checkpoint(line);
  }
  if (verifier === undefined) throw new Error("the admin log gave no chain");
  return { ...verifier.end(), as_of: asOf };
}

function exportedLine(line: Line): ExportLine {
  if (line.type !== "entry") return line;
  const { entry, withheld } = line;
  return withheld
    ? { type: "link", ...linkOf(sealedEntry(entry), possibleEntryHashes(entry), () => entryMark(entry)) }
    : { type: "entry", entry };
}

/** The admin log as JSON lines for the offline verifier. */
export async function* exportAdminChain(db: Database, tenantId: string | undefined): AsyncGenerator<string> {
  const keys: readonly AuditKey[] = await listSigningKeys(db);
  for await (const line of readAdminChain(db, tenantId)) {
    yield printExportLine(exportedLine(line));
    if (line.type === "chain") for (const key of keys) yield printExportLine({ type: "key", ...key });
  }
}

/**
 * Signs the head of the admin log if it has moved or an hour has passed. Safe to run in many processes at once. Returns the new checkpoint,
 * or null.
 */
export async function signAdminChain(
  db: Database,
  signer: NoteSigner,
  keyValidFrom: string,
  clock: Clock,
): Promise<SignedCheckpoint | null> {
  return db.transaction().execute(async (trx) => {
    const head = await trx.selectFrom("admin_log_head").select(["seq", "hash"]).forUpdate().executeTakeFirstOrThrow();
    const last = await trx.selectFrom("admin_log_checkpoints").selectAll().orderBy("checkpoint_no", "desc").limit(1).executeTakeFirst();
    if (head.seq === 0 || (last?.chain_seq === head.seq && clock.now() - last.signed_at.getTime() < SILENCE_MS)) return null;
    const { chain_id, checkpoint_no, chain_seq, note, signed_at } = signHead(
      { signer, clock, keyValidFrom },
      { chainId: ADMIN_CHAIN, seq: head.seq, hash: head.hash },
      last === undefined ? null : checkpointState({ ...last, chain_id: ADMIN_CHAIN }),
    );
    await trx.insertInto("admin_log_checkpoints").values({ checkpoint_no, chain_seq, note, signed_at }).execute();
    return { chain_id, checkpoint_no, chain_seq, note };
  });
}
