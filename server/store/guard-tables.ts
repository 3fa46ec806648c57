import type { ColumnType } from "kysely";
import type { Json, Stamp, WithDefault } from "./schema.ts";

export interface GuardrailConfigTable {
  id: string;
  tenant_id: string;
  name: string;
  description: string | null;
  enabled: WithDefault<boolean>;
  /** Null: every group. */
  group_ids: string[] | null;
  surfaces: Json<Record<string, boolean>>;
  builtin: Json<Record<string, unknown>>;
  providers: Json<unknown[]>;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface ArgumentPolicyTable {
  id: string;
  tenant_id: string;
  name: string;
  description: string | null;
  surface: string;
  target: string;
  argument_key: string | null;
  analyzer: string;
  severity: string;
  enabled: WithDefault<boolean>;
  rules: Json<{ deny_if: string; message: string; values?: string[] }[]>;
  dialect: string | null;
  read_functions: string[] | null;
  schema: ColumnType<Record<string, unknown> | null, string | null, string | null>;
  all_groups: WithDefault<boolean>;
  created_at: Stamp;
  updated_at: Stamp;
}
