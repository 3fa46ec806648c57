import type { AuditRow } from "@gatehouse/ledger-format/fields";
import type { ColumnType } from "kysely";
import type { NullableStamp, Stamp, WithDefault } from "./columns.ts";

export interface AdminLogTable {
  id: string;
  tenant_id: string | null;
  at: Stamp;
  actor_id: string | null;
  actor_username: string | null;
  actor_role: string | null;
  action: string;
  resource: string;
  resource_id: string | null;
  before: ColumnType<unknown, string | null, never>;
  after: ColumnType<unknown, string | null, never>;
  client_ip: string | null;
  request_id: string | null;
  /** Null in entries from before the log was chained. */
  chain_seq: number | null;
  prev_hash: string | null;
  entry_hash: string | null;
}

export interface AuditChainTable {
  chain_id: string;
  writer: string;
  first_seq: WithDefault<number>;
  head_seq: WithDefault<number>;
  head_hash: string;
  last_checkpoint_seq: number | null;
  shipped_segment: WithDefault<number>;
  shipped_offset: WithDefault<number>;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface AuditCheckpointTable {
  chain_id: string;
  checkpoint_no: number;
  chain_seq: number;
  note: string;
  signed_at: Stamp;
}

export interface AuditKeyTable {
  key_id: string;
  name: string;
  public_key: string;
  valid_from: Stamp;
  valid_to: NullableStamp;
  /** When a process last reported that it uses the chain. */
  used_at: NullableStamp;
}

/** Timestamps of audit rows are read and written as text with six decimals: a `Date` would lose the microseconds. */
export type AuditRowTable = { [K in keyof AuditRow]-?: Exclude<AuditRow[K], undefined> };
