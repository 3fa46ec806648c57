import type { NullableJson, NullableStamp, Stamp, WithDefault } from "./columns.ts";

/** The usage of a response, in micro-dollars (null if unpriced) and tokens. */
export interface ResponseUse {
  readonly micros: number | null;
  readonly input: number;
  readonly output: number;
}

export interface StoredResponseTable {
  tenant_id: string;
  id: string;
  resource_group_id: string;
  end_user_id: string | null;
  api_key_id: string | null;
  model_id: string;
  model: string;
  provider_key: string;
  request_id: string;
  root_task_id: string | null;
  correlation_id: string | null;
  labels: string | null;
  client_ip: string;
  input_characters: number;
  created_at: Stamp;
  expires_at: Stamp;
  look_at: NullableStamp;
  looks: WithDefault<number>;
  streamed: boolean;
  held_tokens: number;
  held_micro_usd: number;
  chain: string | null;
  settlement_id: string | null;
  settling_since: NullableStamp;
  used: NullableJson<ResponseUse>;
}
