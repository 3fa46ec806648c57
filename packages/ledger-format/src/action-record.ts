import { createHash } from "node:crypto";

export const ACTION_RECORD_SCHEMA = "ai.gw/action-record/v1";

/** A statement about an action, sealed in the ledger (interface 2.10). */
export interface ActionRecord {
  readonly schema: typeof ACTION_RECORD_SCHEMA;
  readonly action_id: string;
  readonly kind: "fyi";
  readonly verdict: "recorded";
  /** The tenant that operates the system. */
  readonly operator: string;
  readonly system: {
    readonly ai_system_id: string | null;
    readonly contract_version: string | null;
    readonly contract_hash: string | null;
  };
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  readonly controls: readonly { readonly id: string; readonly result: string; readonly blocking: boolean; readonly kind: string }[];
  readonly context: Readonly<Record<string, unknown>> & { readonly record_type: string };
  readonly references: readonly {
    readonly type: string;
    readonly digest_alg: "SHA-256";
    readonly digest: string;
    readonly purpose: string;
    readonly locale?: string;
  }[];
  readonly record_id: string;
}

/** RFC 8785 JSON, limited to what records contain: strings, integers, booleans, null, arrays and objects. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`)
    .join(",")}}`;
}

/**
 * Lower-case hex SHA-256 of the record's canonical text. The audit row that seals a record holds this as its
 * request_content_hash, which its row hash covers, and the record itself as custom_metadata.action_record.
 */
export function actionRecordDigest(record: ActionRecord): string {
  return createHash("sha256").update(canonicalJson(record)).digest("hex");
}
