import type { ColumnType } from "kysely";
import type { NullableJson, NullableStamp, Stamp, WithDefault } from "./columns.ts";

export type BatchStatus = "validating" | "in_progress" | "finalizing" | "completed" | "failed" | "expired" | "cancelling" | "cancelled";

export interface BatchJobError {
  readonly code: string;
  readonly message: string;
}

/** A problem with a line; `line` is null if it concerns the whole input. */
export interface BatchProblem extends BatchJobError {
  readonly line: number | null;
  readonly field: string | null;
}

export interface BatchJobTable {
  id: string;
  tenant_id: string;
  resource_group_id: string;
  end_user_id: string | null;
  api_key_id: string | null;
  /** Taken from the portal token that the job was submitted with. */
  signed_on: WithDefault<boolean>;
  status: BatchStatus;
  ends_as: BatchStatus | null;
  endpoint: string;
  completion_window: string;
  model: string | null;
  model_id: string | null;
  description: string | null;
  metadata: NullableJson<Record<string, string>>;
  retry_interrupted: WithDefault<boolean>;
  vendor_headers: NullableJson<Record<string, string>>;
  results_expire_seconds: WithDefault<number | null>;
  total_requests: WithDefault<number>;
  completed: WithDefault<number>;
  failed: WithDefault<number>;
  input_file_id: string | null;
  output_file_id: string | null;
  error_file_id: string | null;
  error: NullableJson<BatchJobError>;
  problems: NullableJson<readonly BatchProblem[]>;
  request_id: string;
  root_task_id: string | null;
  correlation_id: string | null;
  labels: string | null;
  client_ip: string;
  paused_until: NullableStamp;
  taken_by: string | null;
  taken_until: NullableStamp;
  mode: WithDefault<"gateway" | "provider">;
  end_row_id: WithDefault<string | null>;
  end_chain: WithDefault<string | null>;
  end_begun_at: WithDefault<Date | null>;
  created_at: Stamp;
  in_progress_at: NullableStamp;
  finalizing_at: NullableStamp;
  cancelling_at: NullableStamp;
  ended_at: NullableStamp;
  expires_at: Stamp;
}

export interface BatchLineTable {
  job_id: string;
  line: number;
  custom_id: string;
  body: string;
  /** 0 waiting, 1 held by a process, 2 answered, 3 failed, 4 departed in a provider's batch, 5 answered there and to be delivered. */
  state: ColumnType<number, number | undefined, number>;
  attempt: WithDefault<number>;
  owner: string | null;
  status_code: number | null;
  request_id: string | null;
  result: string | null;
  error_code: string | null;
  error_message: string | null;
}

export interface BatchRunnerTable {
  id: string;
  alive_until: Stamp;
}

export interface BatchCostTable {
  job_id: string;
  tenant_id: string;
  cost_micro_usd: number;
  unpriced: number;
}

export interface BatchSubmissionTable {
  id: string;
  job_id: string;
  tenant_id: string;
  model_id: string;
  operation: string;
  lines: number;
  state: WithDefault<"ready" | "sending" | "running" | "fetched" | "ended">;
  provider_batch: string | null;
  cancelled: WithDefault<boolean>;
  attempts: WithDefault<number>;
  looks: WithDefault<number>;
  sending_since: NullableStamp;
  look_at: WithDefault<Date>;
  taken_by: string | null;
  taken_until: NullableStamp;
  created_at: WithDefault<Date>;
}

export interface BatchDepartureTable {
  job_id: string;
  line: number;
  tenant_id: string;
  submission_id: string | null;
  left_from: string;
  call_id: string;
  model_id: string;
  operation: string;
  audit_row: string;
  asked: string;
  sent: string | null;
  bytes: number;
  status: number | null;
  answer: string | null;
  unanswered: string | null;
  chain: string | null;
  given_at: NullableStamp;
}
