import type { ColumnType } from "kysely";
import type { NullableJson, NullableStamp, Stamp, WithDefault } from "./columns.ts";

export interface LineError {
  readonly code: string;
  readonly message: string;
}

/** What is wrong with one line of a job's file. */
export interface LineProblem extends LineError {
  readonly line: number;
  readonly param: string | null;
}

/** Why a job waits: the code of what its last line was refused with. */
export interface JobPause extends LineError {
  readonly until: string;
}

export interface BatchJobTable {
  id: string;
  tenant_id: string;
  resource_group_id: string;
  end_user_id: string | null;
  api_key_id: string | null;
  credential_name: string;
  endpoint: string;
  model: string;
  completion_window: string;
  description: string | null;
  metadata: NullableJson<Readonly<Record<string, string>>>;
  retry_interrupted: WithDefault<boolean>;
  status: string;
  ends_as: string | null;
  error: NullableJson<LineError>;
  problems: NullableJson<readonly LineProblem[]>;
  input_file_id: string | null;
  output_file_id: string | null;
  error_file_id: string | null;
  root_task_id: string;
  run_id: string | null;
  correlation_id: string;
  submitted_by_call: string;
  client_ip: string;
  total: WithDefault<number>;
  open_lines: WithDefault<number>;
  running_lines: WithDefault<number>;
  completed: WithDefault<number>;
  failed: WithDefault<number>;
  cancelled: WithDefault<number>;
  expired: WithDefault<number>;
  cost_micros: WithDefault<number>;
  prompt_tokens: WithDefault<number>;
  completion_tokens: WithDefault<number>;
  paused: NullableJson<JobPause>;
  wait_until: NullableStamp;
  last_claimed_at: NullableStamp;
  created_at: Stamp;
  in_progress_at: NullableStamp;
  cancelling_at: NullableStamp;
  finalizing_at: NullableStamp;
  ended_at: NullableStamp;
  expires_at: Stamp;
  updated_at: Stamp;
}

export interface BatchLineTable {
  job_id: string;
  tenant_id: string;
  seq: number;
  custom_id: string;
  body: string;
  state: ColumnType<"open" | "running" | "done", string | undefined, string>;
  attempt: WithDefault<number>;
  owner: string | null;
  lease_until: NullableStamp;
  request_id: string | null;
  status_code: number | null;
  response: string | null;
  error: NullableJson<LineError>;
}
