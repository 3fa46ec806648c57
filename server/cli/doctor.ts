import { closeSync, existsSync, fstatSync, lstatSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ADMIN_CHAIN } from "@gatehouse/ledger-format/admin-entry";
import { type SavedCheckpoint, savedCheckpoints } from "@gatehouse/ledger-format/anchors";
import { readPublicKey } from "@gatehouse/ledger-format/signed-note";
import { type Configuration, readConfiguration } from "../kernel/configuration/configuration.ts";
import { groupSize, journalShare } from "../kernel/configuration/group-size.ts";
import { unreadCollectorSettings } from "../kernel/configuration/unread-collector-settings.ts";
import { reasonOf } from "../kernel/errors.ts";
import { MIN_FREE_BYTES } from "../ledger/journal/disk-room.ts";
import { journalFiles, listSegments } from "../ledger/journal/segments.ts";
import { listSigningKeys } from "../ledger/checkpoints/signing-keys.ts";
import { ensuredUntil } from "../store/ledger/audit-partitions.ts";
import type { Database } from "../store/database.ts";
import { openValkey } from "../runtime/valkey.ts";
import { serverVersion } from "../store/inspect-database.ts";
import { pendingMigrations } from "../store/migrate.ts";
import { importsWithoutKey } from "../store/records/usage-import-keys.ts";
import { requireOwn } from "../store/data-directory.ts";
import { openAuditDatabase } from "./audit-database.ts";
import { EMBEDDED_PASSWORD } from "./running-database.ts";
import type { CommandIo } from "./command-io.ts";
import { type DoctorFinding, finding } from "./finding.ts";
import { examineAdminLog } from "./examine-admin-log.ts";
import { examineBucket } from "./examine-bucket.ts";
import { examineChains, type SavedCheckpoints } from "./examine-chains.ts";
import { examineClock } from "./examine-clock.ts";
import { examineSecretKey } from "./examine-secret-key.ts";
import { type SecretKeys, secretKeysOf } from "./secret-keys.ts";
import { storedSecret } from "./stored-secret.ts";
import { examineHost, examineKnowledge, isBelow, whyNotAppended } from "./examine-places.ts";

const USAGE = `Usage:
  gatehouse doctor [--json]

Checks settings, address, data directory, knowledge folder, journal, Valkey, database, the newest rows of every audit chain, the
admin log and the places for checkpoints, and changes nothing. Exits with 0 (nothing is wrong), 1 (something is), 3 (could not run).
`;

const OLDEST_POSTGRES = 15;
const OLDEST_VALKEY = 7;
const MIB = 1024 * 1024;
/** Files of the data directory that may be closed to others, and that must belong to the gateway's user. */
const PLACES = ["secrets", "journal"];
const SECRETS = ["secret-key", "jwt-secret", "audit-signing-key.pem", EMBEDDED_PASSWORD];
/** Bytes read from the end of the checkpoint file: enough for the newest of every active chain. */
const FILE_TAIL = MIB;

/** `gatehouse doctor`. Resolves with the exit code; never throws. */
export async function doctorCommand(argv: string[], env: Readonly<Record<string, string | undefined>>, io: CommandIo): Promise<number> {
  try {
    const { values } = parseArgs({
      args: argv,
      options: { json: { type: "boolean", default: false }, help: { type: "boolean", default: false } },
    });
    if (values.help) {
      await io.stdout(USAGE);
      return 0;
    }
    const findings: DoctorFinding[] = [];
    for await (const found of examine(env)) {
      findings.push(found);
      if (!values.json) await io.stdout(`${found.state.padEnd(8)}${found.about.padEnd(18)}${found.detail}\n`);
    }
    if (values.json) await io.stdout(`${JSON.stringify({ findings })}\n`);
    return findings.some(({ state }) => state === "wrong") ? 1 : 0;
  } catch (error) {
    io.stderr(`gatehouse doctor: ${reasonOf(error)}\n`);
    return 3;
  }
}

async function* examine(env: Readonly<Record<string, string | undefined>>): AsyncGenerator<DoctorFinding> {
  let config: Configuration;
  try {
    config = readConfiguration(env);
    yield finding("ok", "settings", `roles ${config.roles.join(", ")}; audit ${config.auditDurability}`);
    const unread = unreadCollectorSettings(env);
    if (unread !== null) yield finding("warning", "settings", unread);
  } catch (error) {
    yield finding("wrong", "settings", (error as Error).message);
    return;
  }
  yield await examineHost(config);
  yield* examineFiles(config);
  yield* examineKnowledge(config);
  const kept = yield* examineFile(config);
  if (config.valkeyUrl !== undefined) yield await examineValkey(config.valkeyUrl);
  if (
    config.databaseUrl === undefined &&
    !existsSync(join(config.dataDir, "secrets", EMBEDDED_PASSWORD)) &&
    !existsSync(join(config.dataDir, "postgresql", "cluster"))
  ) {
    if (existsSync(config.dataDir))
      yield finding("warning", "database", `there is none in ${config.dataDir} yet: the next start makes it, unless DATABASE_URL is given`);
    return;
  }
  let database: Awaited<ReturnType<typeof openAuditDatabase>>;
  try {
    database = await openAuditDatabase({ url: config.databaseUrl, dataDir: config.dataDir });
  } catch (error) {
    const about = config.databaseUrl === undefined ? "" : "DATABASE_URL cannot be used: ";
    yield finding("wrong", "database", `${about}${(error as Error).message}`);
    return;
  }
  try {
    yield* examineDatabase(database.db, config, kept, secretKeysOf(env, config.dataDir));
  } catch (error) {
    yield finding("wrong", "database", (error as Error).message);
  } finally {
    await database.close();
  }
}

function* examineFiles(config: Configuration): Generator<DoctorFinding> {
  if (!existsSync(config.dataDir)) {
    yield finding(
      config.databaseUrl === undefined ? "warning" : "ok",
      "data directory",
      `${config.dataDir} is not there: the first start makes it`,
    );
    return;
  }
  const open = (statSync(config.dataDir).mode & 0o077) !== 0;
  yield finding(open ? "wrong" : "ok", "data directory", open ? `${config.dataDir} can be read by others: chmod 700` : config.dataDir);
  const members = existsSync(join(config.dataDir, "processes")) ? readdirSync(join(config.dataDir, "processes")) : [];
  const homes = [config.dataDir, ...members.map((member) => join(config.dataDir, "processes", member))];
  for (const home of homes) for (const place of PLACES) yield* examinePlace(join(home, place), "directory");
  for (const name of SECRETS) yield* examinePlace(join(config.dataDir, "secrets", name), "file");
  const journals = homes.map((home) => join(home, "journal")).filter((journal) => existsSync(journal));
  const segments = journals.flatMap((journal) => listSegments(journal));
  const bytes = segments.reduce((sum, segment) => sum + segment.size, 0);
  const free = journalFiles.free(journals[0] ?? config.dataDir);
  const size = groupSize(config);
  const most = size * journalShare(config.auditJournalMaxBytes, size);
  const room = Math.max(0, most - bytes);
  yield finding(
    "ok",
    "journal",
    `${segments.length} segment(s), ${Math.ceil(bytes / MIB)} MiB of ${Math.round(most / MIB)} ${size === 1 ? "it" : `those of ${size} processes`} may take`,
  );
  if (free < MIN_FREE_BYTES)
    yield finding("wrong", "disk", `${Math.floor(free / MIB)} MiB free: a gateway refuses calls below ${MIN_FREE_BYTES / MIB} MiB`);
  else
    yield finding(
      free < room ? "warning" : "ok",
      "disk",
      `${Math.round(free / MIB)} MiB free${free < room ? `, less than the ${Math.round(room / MIB)} MiB the journal may still take while the database is away` : ""}`,
    );
}

/** Reports only what would prevent a start. */
function* examinePlace(path: string, kind: "directory" | "file"): Generator<DoctorFinding> {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) requireOwn(path, kind);
  } catch (error) {
    yield finding("wrong", "data directory", (error as Error).message);
  }
}

/** Connects, because a start does not wait for Valkey, and its client does not distinguish a wrong password from a closed port. */
async function examineValkey(url: string): Promise<DoctorFinding> {
  const valkey = openValkey(url);
  try {
    const info = String(await valkey.run("return redis.call('INFO', 'server') .. redis.call('INFO', 'memory')", [], []));
    const settingOf = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1] ?? "";
    const version = settingOf("valkey_version") || settingOf("redis_version");
    const policy = settingOf("maxmemory_policy");
    if (Number.parseInt(version, 10) < OLDEST_VALKEY)
      return finding("wrong", "valkey", `version ${version} is older than ${OLDEST_VALKEY}`);
    return policy === "noeviction"
      ? finding("ok", "valkey", `version ${version} answers`)
      : finding("warning", "valkey", `maxmemory-policy is ${policy}: a server short of memory drops counters; set noeviction`);
  } catch (error) {
    return finding("wrong", "valkey", `it is away, or refuses the user or password: ${(error as Error).message}`);
  } finally {
    valkey.close();
  }
}

async function* examineDatabase(
  db: Database,
  config: Configuration,
  kept: SavedCheckpoints,
  secretKeys: SecretKeys | null,
): AsyncGenerator<DoctorFinding> {
  const version = await serverVersion(db);
  yield finding(version < OLDEST_POSTGRES ? "wrong" : "ok", "database", `PostgreSQL ${version} answers`);
  const pending = await pendingMigrations(db);
  yield finding(
    pending.length > 0 ? "warning" : "ok",
    "migrations",
    pending.length > 0 ? `${pending.length} to apply at the next start: ${pending.join(", ")}` : "all applied",
  );
  if (pending.length > 0) return;
  const until = await ensuredUntil(db);
  const soon = until === null || Date.parse(until) - Date.now() < 7 * 86_400_000;
  yield finding(
    soon ? "warning" : "ok",
    "partitions",
    until === null
      ? "there are none: is a process with the worker role running?"
      : `made up to ${until.slice(0, 10)}${soon ? ": is a process with the worker role running?" : ""}`,
  );

  yield await examineSecretKey(db, secretKeys);
  const { enabled, keyless } = await importsWithoutKey(db);
  if (enabled > 0)
    yield finding(
      keyless.length > 0 ? "warning" : "ok",
      "usage import",
      keyless.length > 0
        ? `${keyless.length} of ${enabled} import(s) that are switched on have no key, that of provider ${keyless[0]} first: store one`
        : `${enabled} import(s) switched on, each with a key`,
    );
  const pem = config.auditSigningKey ?? storedSecret(config.dataDir, "audit-signing-key.pem");
  const keys = await listSigningKeys(db);
  if (pem !== null) {
    const publicKey = Buffer.from(readPublicKey(pem)).toString("base64");
    const known = keys.some((key) => key.public_key === publicKey);
    yield finding(
      known || keys.length === 0 ? "ok" : "warning",
      "signing key",
      known ? `registered; ${keys.length} key(s) in all` : "this key has signed nothing in this database yet",
    );
  }
  yield await examineClock(db);
  yield* examineChains(db, kept);
  yield* examineAdminLog(db, kept.get(ADMIN_CHAIN) ?? []);
  yield* examineBucket(db, config);
}

/** Returns each chain's checkpoints in the newest part of the file; for a chain that was set back, those of both its ends. */
function* examineFile({ auditCheckpointFile: file, dataDir }: Configuration): Generator<DoctorFinding, SavedCheckpoints> {
  const newest = new Map<string, SavedCheckpoint[]>();
  if (file === undefined) return newest;
  const why = whyNotAppended(file);
  if (why !== null) {
    yield finding("wrong", "checkpoint file", why);
    return newest;
  }
  const there = existsSync(file);
  try {
    if (there) for (const [chainId, kept] of Map.groupBy(savedCheckpoints(tailOf(file)), (one) => one.chainId)) newest.set(chainId, kept);
    const state = there ? `${file} has checkpoints of ${newest.size} chain(s)` : `${file} is made with the next checkpoint`;
    const beside = isBelow(dataDir, file) ? ": it lies in the data directory, and is lost or changed together with the ledger" : "";
    yield finding(beside === "" ? "ok" : "warning", "checkpoint file", `${state}${beside}`);
  } catch (error) {
    yield finding("wrong", "checkpoint file", `${file}, in its newest part, ${(error as Error).message}`);
  }
  return newest;
}

/** The last whole lines of a file. */
function tailOf(file: string): string {
  const descriptor = openSync(file, "r");
  try {
    const { size } = fstatSync(descriptor);
    const from = Math.max(0, size - FILE_TAIL);
    const bytes = Buffer.alloc(size - from);
    const text = bytes.toString("utf8", 0, readSync(descriptor, bytes, 0, bytes.length, from));
    return from === 0 ? text : text.slice(text.indexOf("\n") + 1);
  } finally {
    closeSync(descriptor);
  }
}
