import type { Json, NullableJson, NullableStamp, Stamp, WithDefault } from "./columns.ts";

export type VideoStatus = "queued" | "in_progress" | "succeeded" | "failed" | "cancelled" | "expired";

export interface VideoError {
  readonly code: string;
  readonly message: string;
}

export interface VideoJobTable {
  id: string;
  tenant_id: string;
  resource_group_id: string;
  end_user_id: string | null;
  api_key_id: string | null;
  status: VideoStatus;
  model_id: string;
  model: string;
  provider_key: string;
  upstream_id: string | null;
  resolution: string | null;
  seconds: number | null;
  chat_id: string | null;
  source_job_id: string | null;
  source_seconds: number | null;
  display_name: string | null;
  prices: Json<object>;
  held_micro_usd: number;
  held_tokens: WithDefault<number>;
  progress: WithDefault<number>;
  owner: string | null;
  look_at: Stamp;
  looks: WithDefault<number>;
  failures: WithDefault<number>;
  output_file_id: string | null;
  cost_micro_usd: number | null;
  usage: NullableJson<object>;
  error: NullableJson<VideoError>;
  settlement_id: string | null;
  settling_since: NullableStamp;
  settled_at: NullableStamp;
  request_id: string;
  root_task_id: string | null;
  correlation_id: string | null;
  labels: string | null;
  client_ip: string;
  created_at: Stamp;
  updated_at: Stamp;
  ended_at: NullableStamp;
  expires_at: Stamp;
  deleted_at: NullableStamp;
}

export interface VideoRunnerTable {
  id: string;
  chain: string | null;
  alive_until: Stamp;
}
