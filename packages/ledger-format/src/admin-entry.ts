import { createHash } from "node:crypto";
import { NotCanonical, contentMark, isHash } from "./canonical.ts";

/** Chain ID of the admin log; there is one per installation. */
export const ADMIN_CHAIN = "admin-log";

/** An admin log entry with its position in the chain. Times are ISO 8601 UTC with three decimals. */
export interface AdminEntry {
  readonly id: string;
  readonly tenant_id: string | null;
  readonly at: string;
  readonly actor_id: string | null;
  readonly actor_username: string | null;
  readonly actor_role: string | null;
  readonly action: string;
  readonly resource: string;
  readonly resource_id: string | null;
  readonly before: unknown;
  readonly after: unknown;
  readonly client_ip: string | null;
  readonly request_id: string | null;
  readonly chain_seq: number;
  readonly prev_hash: string;
  readonly entry_hash: string;
}

const FORMAT = "admin-v1";

/** The hashed fields in canonical order; `before` and `after` are embedded as RFC 8785 JSON. */
const FIELDS = [
  "chain_seq",
  "id",
  "tenant_id",
  "at",
  "actor_id",
  "actor_username",
  "actor_role",
  "action",
  "resource",
  "resource_id",
  "before",
  "after",
  "client_ip",
  "request_id",
] as const;

/** Lower-case hex SHA-256 of the canonical bytes followed by the 32 raw bytes of `prev_hash`. Throws `NotCanonical`. */
export function adminEntryHash(entry: Omit<AdminEntry, "entry_hash">): string {
  if (!isHash(entry.prev_hash)) throw new NotCanonical("prev_hash is not 64 lower-case hex digits");
  const text = canonicalJson([FORMAT, ...FIELDS.map((name) => entry[name] ?? null)]);
  return createHash("sha256").update(text).update(Buffer.from(entry.prev_hash, "hex")).digest("hex");
}

export const entryMark = (entry: AdminEntry): string => contentMark([entry.prev_hash, ...FIELDS.map((name) => entry[name] ?? null)]);

/** RFC 8785 JSON: members sorted by UTF-16 code units, numbers and strings as ECMAScript serializes them. Throws `NotCanonical`. */
export function canonicalJson(value: unknown): string {
  if (typeof value === "string" && !value.isWellFormed()) throw new NotCanonical("a text is not well-formed Unicode");
  if (typeof value === "number" && !Number.isFinite(value)) throw new NotCanonical("a number is not finite");
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return `{${members
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`)
      .join(",")}}`;
  }
  return JSON.stringify(value ?? null);
}
