import { existsSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { SavedCheckpoint } from "@gatehouse/ledger-format/anchors";
import { ADMIN_CHAIN } from "@gatehouse/ledger-format/admin-entry";
import { readPublicKeys } from "@gatehouse/ledger-format/signed-note";
import { verifyExport } from "@gatehouse/ledger-format/verify-export";
import { wholeLines } from "@gatehouse/ledger-format/whole-lines";
import { exportChain } from "../ledger/chains/chain-export.ts";
import { countUnchained, listChains } from "../ledger/chains/chain-facts.ts";
import { checkpointLines, verifyChain } from "../ledger/chains/chains.ts";
import type { Database } from "../store/database.ts";
import { openAuditDatabase } from "./audit-database.ts";
import { filePieces } from "./file-pieces.ts";
import { readSavedCheckpoints } from "./saved-checkpoints.ts";
import { reasonOf } from "../kernel/errors.ts";
import type { CommandIo } from "./command-io.ts";
import { exitCode, print, report } from "./audit-report.ts";

const USAGE = `Usage:
  gatehouse audit verify FILE.jsonl [--public-key FILE]... [--checkpoints FILE|s3://BUCKET/PREFIX] [--json]
  gatehouse audit verify [--database-url URL | --data-dir DIR] [--chain ID] [--public-key FILE]... [--checkpoints FILE|s3://BUCKET/PREFIX] [--json]
  gatehouse audit export --chain ID [--database-url URL | --data-dir DIR]
  gatehouse audit checkpoints [--chain ID] [--database-url URL | --data-dir DIR]

checkpoints prints every signed checkpoint. Keep them where the database's administrator cannot write, and pass them to
verify with --checkpoints: this reveals rows that were cut off since, for example by restoring an older backup. The file of
GW_AUDIT_CHECKPOINT_FILE and an earlier export work as well. The bucket of GW_AUDIT_CHECKPOINT_URL is read with
AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION and AWS_ENDPOINT_URL_S3.
A FILE of --public-key is an answer of GET /v1/admin/audit/keys, or has keys as PEM or as base64 of their 32 bytes.
verify exits with 0 (intact), 1 (unanchored), 2 (missing, broken_link, altered or checkpoint_invalid), 3 (could not run).
`;

const COULD_NOT_RUN = 3;

const OPTIONS = {
  "database-url": { type: "string" },
  "data-dir": { type: "string" },
  "public-key": { type: "string", multiple: true },
  chain: { type: "string" },
  checkpoints: { type: "string" },
  json: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

/** `gatehouse audit ...`. Resolves with the exit code; never throws. */
export async function auditCommand(argv: string[], io: CommandIo): Promise<number> {
  try {
    const { values, positionals } = parseArgs({ args: argv, options: OPTIONS, allowPositionals: true });
    const [action, file, ...rest] = positionals;
    if (values.help) {
      await io.stdout(USAGE);
      return 0;
    }
    if (action === undefined) throw new Error(`say what to do\n${USAGE}`);
    if (rest.length > 0 || (action !== "verify" && action !== "export" && action !== "checkpoints"))
      throw new Error(`cannot understand "audit ${positionals.join(" ")}"\n${USAGE}`);
    const publicKeys = (values["public-key"] ?? []).flatMap((path) => readPublicKeys(readFileSync(path, "utf8")));
    const source = {
      url: values["database-url"] ?? (values["data-dir"] === undefined ? process.env["DATABASE_URL"] : undefined),
      dataDir: values["data-dir"] ?? process.env["GW_DATA_DIR"] ?? "./data",
    };
    if (action === "checkpoints") {
      if (file !== undefined) throw new Error(`checkpoints takes no file\n${USAGE}`);
      return await withDatabase(source, (db) => print(io, checkpointLines(db, values.chain)));
    }
    if (action === "export") {
      if (file !== undefined || values.chain === undefined) throw new Error(`export needs --chain ID\n${USAGE}`);
      const { chain } = values;
      return await withDatabase(source, (db) => print(io, exportChain(db, chain)));
    }
    const options: VerifyOptions = {
      publicKeys,
      chain: values.chain,
      json: values.json,
      saved: values.checkpoints === undefined ? [] : await readSavedCheckpoints(values.checkpoints, values.chain, process.env),
    };
    if (file !== undefined) return await verifyFile(io, file, options);
    return await withDatabase(source, (db) => verifyDatabase(io, db, options));
  } catch (error) {
    io.stderr(`gatehouse audit: ${reasonOf(error)}\n`);
    return COULD_NOT_RUN;
  }
}

interface VerifyOptions {
  readonly publicKeys: readonly Uint8Array[];
  readonly chain: string | undefined;
  readonly json: boolean;
  readonly saved: readonly SavedCheckpoint[];
}

type Source = Parameters<typeof openAuditDatabase>[0];

async function verifyFile(io: CommandIo, file: string, options: VerifyOptions): Promise<number> {
  if (!existsSync(file)) throw new Error(`${file}: no such file`);
  const result = await verifyExport(wholeLines(filePieces(file)), options).catch((error: Error) => {
    throw new Error(`${file}: ${error.message}`, { cause: error });
  });
  if (options.chain !== undefined && options.chain !== result.chain_id) throw new Error(`${file} is of chain ${result.chain_id}`);
  if (options.saved.length > 0 && !options.saved.some((one) => one.chainId === result.chain_id))
    throw new Error(`the kept checkpoints are of other chains than ${result.chain_id}`);
  if (options.json) await io.stdout(`${JSON.stringify(result)}\n`);
  else {
    await io.stdout(report(result));
    await io.stdout(`as of         ${result.exported_at}\n`);
    if (result.keys_from_export)
      await io.stdout(
        "NOTE          the public keys came from the file itself: name a key of your own with --public-key to prove who signed\n",
      );
  }
  return exitCode(result.verdict);
}

async function verifyDatabase(io: CommandIo, db: Database, { chain, publicKeys, saved: kept, json }: VerifyOptions): Promise<number> {
  const there = [...(await listChains(db)).map((one) => one.chain_id), ADMIN_CHAIN];
  const gone = new Set(kept.map((one) => one.chainId).filter((id) => !there.includes(id)));
  let worst = 0;
  for (const id of chain === undefined ? there : [chain].filter((one) => !gone.has(one))) {
    const result = await verifyChain(db, id, { publicKeys, saved: kept });
    await io.stdout(json ? `${JSON.stringify(result)}\n` : report(result));
    worst = Math.max(worst, exitCode(result.verdict));
  }
  for (const id of gone) {
    await io.stdout(
      json
        ? `${JSON.stringify({ chain_id: id, verdict: "missing" })}\n`
        : `chain         ${id}\nverdict       missing\n  the kept checkpoints are of a chain the database does not have\n`,
    );
    worst = Math.max(worst, exitCode("missing"));
  }
  const unchained = chain === undefined ? await countUnchained(db) : 0;
  if (unchained > 0) {
    await io.stdout(
      json
        ? `${JSON.stringify({ chain_id: null, verdict: "broken_link", rows: unchained })}\n`
        : `chain         none\nverdict       broken_link\n  ${unchained} row(s) name no chain: no gateway wrote them\n`,
    );
    worst = Math.max(worst, exitCode("broken_link"));
  }
  return worst;
}

async function withDatabase(source: Source, work: (db: Database) => Promise<number>): Promise<number> {
  const database = await openAuditDatabase(source);
  try {
    return await work(database.db);
  } finally {
    await database.close();
  }
}
