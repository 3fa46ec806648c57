import type { AdminEntry } from "./admin-entry.ts";
import type { ChainFacts, PrunedPrefix, RowLink } from "./chain-facts.ts";
import type { CheckpointLine } from "./checkpoint-trail.ts";
import type { AuditRow } from "./fields.ts";
import { namedTwice } from "./named-twice.ts";

/**
 * The export of one chain as JSON lines: the chain, then the keys, then rows and checkpoints in the order of chain_seq, each checkpoint
 * after its row. Null fields may be omitted from rows.
 */
export type ExportLine =
  | ({ readonly type: "chain"; readonly writer: string; readonly exported_at: string } & ChainFacts)
  | {
      readonly type: "key";
      readonly name: string;
      readonly key_id: string;
      readonly public_key: string;
      readonly valid_from: string | null;
      readonly valid_to: string | null;
    }
  | { readonly type: "row"; readonly row: AuditRow }
  | { readonly type: "entry"; readonly entry: AdminEntry }
  | ({ readonly type: "link" } & RowLink)
  | ({ readonly type: "checkpoint" } & CheckpointLine)
  | ({ readonly type: "pruned" } & PrunedPrefix);

/** A line is not a valid export line; the message says why. */
export class NotAnExport extends Error {}

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === "string";
// Accepts any number: an impossible position is an edit, for the verifier to report.
const position: Check = (value) => typeof value === "number";
const optional =
  (check: Check): Check =>
  (value) =>
    value === null || value === undefined || check(value);

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const SHAPES: { readonly [T in ExportLine["type"]]: Readonly<Record<string, Check>> } = {
  chain: {
    chain_id: text,
    first_seq: position,
    head_seq: optional(position),
    head_hash: optional(text),
    last_checkpoint_seq: optional(position),
    updated_at: optional(text),
    exported_at: text,
  },
  key: { name: text, public_key: text, valid_from: optional(text), valid_to: optional(text) },
  row: { row: isObject },
  entry: { entry: (value) => isObject(value) && typeof (value as { at?: unknown }).at === "string" },
  link: {
    chain_seq: optional(position),
    prev_hash: text,
    row_hash: text,
    created_at: optional(text),
    hashes_to: (value) => value == null || (Array.isArray(value) && value.every(text)),
  },
  checkpoint: { chain_seq: position, note: text },
  pruned: { through_seq: position, row_hash: text, checkpoint: text },
};

/** Throws `NotAnExport`. The fields of rows are left to the verifier. */
export function parseExportLine(line: string): ExportLine {
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(line) as Record<string, unknown>;
  } catch {
    throw new NotAnExport("it is not JSON");
  }
  const twice = isObject(value) ? namedTwice(line.trim(), value) : null;
  if (twice !== null) throw new NotAnExport(`it names ${JSON.stringify(twice)} twice`);
  const type = value?.["type"];
  // Checked first, because most lines are rows.
  if (type === "row" && isObject(value["row"])) return value as unknown as ExportLine;
  if (typeof type !== "string" || !Object.hasOwn(SHAPES, type)) throw new NotAnExport("it is not a line of an audit export");
  for (const [field, check] of Object.entries(SHAPES[type as ExportLine["type"]])) {
    if (!check(value[field])) throw new NotAnExport(`its ${field} is missing or of the wrong type`);
  }
  if (type === "chain") for (const field of ["head_seq", "head_hash", "last_checkpoint_seq", "updated_at"]) value[field] ??= null;
  if (type === "key") for (const field of ["valid_from", "valid_to"]) value[field] ??= null;
  return value as unknown as ExportLine;
}

/** One line, including its line feed. */
export function printExportLine(line: ExportLine): string {
  return `${JSON.stringify(line)}\n`;
}
