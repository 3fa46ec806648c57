import type { Json, NullableStamp, Stamp, WithDefault } from "./columns.ts";

export interface AgentSkillTable {
  /** `skill-` and a ULID. */
  id: string;
  tenant_id: string;
  name: string;
  description: string;
  enabled: WithDefault<boolean>;
  allow_local_export: WithDefault<boolean>;
  approval_required_scripts: WithDefault<string[]>;
  published_version: number | null;
  execution_count: WithDefault<number>;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface AgentSkillVersionTable {
  skill_id: string;
  version: number;
  digest: string;
  description: string;
  frontmatter: Json<Record<string, unknown>>;
  warnings: string[];
  file_count: number;
  size_bytes: number;
  published_at: NullableStamp;
  created_at: Stamp;
}

export interface AgentSkillFileTable {
  skill_id: string;
  version: number;
  path: string;
  digest: string;
  executable: boolean;
  content: Uint8Array;
}
