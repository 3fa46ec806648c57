import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { verifyCertificate } from "@gatehouse/ledger-format/certificate";
import { verifySealedReport } from "@gatehouse/ledger-format/sealed-report";
import { readPublicKeys } from "@gatehouse/ledger-format/signed-note";
import { reasonOf } from "../kernel/errors.ts";
import type { CommandIo } from "./command-io.ts";

const USAGE = `Usage:
  gatehouse verify certificate FILE --public-key FILE [--json]
  gatehouse verify report FILE --public-key FILE [--json]

Verifies a certificate of an AI System, or a sealed compliance report, with only the public key that
GET /v1/admin/audit/keys lists: a file with its answer, or the key as PEM or as base64 of its 32 bytes.
Only the gateway knows whether a certificate has been revoked since.
Exits with 0 (valid), 1 (expired), 2 (invalid), 3 (could not run).
`;

const EXIT = { valid: 0, expired: 1, invalid: 2 } as const;
const COULD_NOT_RUN = 3;

/** `gatehouse verify ...`. Resolves with the exit code; never throws. */
export async function verifyCommand(argv: string[], now: number, io: CommandIo): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args: argv,
      options: {
        "public-key": { type: "string", multiple: true },
        json: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
      allowPositionals: true,
    });
    if (values.help) {
      await io.stdout(USAGE);
      return 0;
    }
    const [what, file, ...rest] = positionals;
    if ((what !== "certificate" && what !== "report") || file === undefined || rest.length > 0)
      throw new Error(`cannot understand "verify ${positionals.join(" ")}"\n${USAGE}`);
    const keys = (values["public-key"] ?? []).flatMap((path) => readPublicKeys(readFileSync(path, "utf8")));
    if (keys.length === 0) throw new Error(`say with --public-key who must have signed it\n${USAGE}`);
    const text = readFileSync(file, "utf8");
    if (what === "report") {
      const result = verifySealedReport(text, keys);
      await io.stdout(values.json ? `${JSON.stringify(result)}\n` : reportInWords(result));
      return EXIT[result.verdict];
    }
    const result = verifyCertificate(text, keys, now);
    await io.stdout(values.json ? `${JSON.stringify(result)}\n` : inWords(result));
    return EXIT[result.verdict];
  } catch (error) {
    await io.stderr(`gatehouse verify: ${reasonOf(error)}\n`);
    return COULD_NOT_RUN;
  }
}

function inWords(result: ReturnType<typeof verifyCertificate>): string {
  if (result.verdict === "invalid") return `invalid: ${result.reason}\n`;
  const { predicate, subject } = result.statement;
  const lines = [
    `${result.verdict}: ${predicate.result}`,
    ...subject.map(({ name, digest }) => `  ${name} sha256:${digest.sha256}`),
    `  captured ${predicate.captured_at}, good until ${predicate.valid_until}, signed by the key ${result.publicKey}`,
    ...predicate.limits.map((limit) => `  note: ${limit}`),
  ];
  return `${lines.join("\n")}\n`;
}

function reportInWords(result: ReturnType<typeof verifySealedReport>): string {
  if (result.verdict === "invalid") return `invalid: ${result.reason}\n`;
  const { predicate, subject } = result.statement;
  const lines = [
    `valid: ${predicate.framework} of tenant ${predicate.tenant_id}, ${predicate.window.from} to ${predicate.window.to}`,
    ...subject.map(({ name, digest }) => `  ${name} sha256:${digest.sha256}`),
    `  sealed ${predicate.sealed_at}, signed by the key ${result.publicKey}`,
    ...predicate.ledger.map(({ chain_id: chain, seq, row_hash: hash }) => `  counted up to row ${seq} of chain ${chain}, ${hash}`),
    `  counted up to entry ${predicate.admin_log.seq} of the admin log, ${predicate.admin_log.entry_hash}`,
    ...predicate.limits.map((limit) => `  note: ${limit}`),
  ];
  return `${lines.join("\n")}\n`;
}
