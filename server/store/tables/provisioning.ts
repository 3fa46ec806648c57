import type { ColumnType } from "kysely";
import type { JsonWithDefault, NullableStamp, Stamp, WithDefault } from "./columns.ts";

/** External directories: their tokens, people, groups and log. */

export interface ScimTokenTable {
  id: string;
  tenant_id: string;
  name: string;
  source: string;
  token_hash: string;
  token_hint: string;
  adopt_existing: WithDefault<boolean>;
  remove_all_members: WithDefault<boolean>;
  expires_at: NullableStamp;
  revoked_at: NullableStamp;
  last_used_at: NullableStamp;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface ScimUserTable {
  end_user_id: string;
  tenant_id: string;
  source: string;
  external_id: string | null;
  attributes: ColumnType<Record<string, unknown>, string, string>;
  active: WithDefault<boolean>;
  shut_out: WithDefault<boolean>;
  version: WithDefault<number>;
  deleted_at: NullableStamp;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface ScimGroupTable {
  end_user_group_id: string;
  tenant_id: string;
  source: string;
  external_id: string | null;
  display_name: string;
  version: WithDefault<number>;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface ProvisioningLogTable {
  id: string;
  tenant_id: string;
  at: Date;
  source: string;
  token_id: string | null;
  method: string;
  resource_type: string;
  resource_id: string | null;
  status: number;
  outcome: string;
  detail: JsonWithDefault<Record<string, unknown>>;
}
