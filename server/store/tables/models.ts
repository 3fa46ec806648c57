import type { ColumnType } from "kysely";
import type { JsonWithDefault, NullableStamp, Stamp, WithDefault } from "./columns.ts";

/** Micro-dollars per million tokens, named like the plain columns; a missing one is the same as without the tier. */
export interface ColumnPrices {
  input_cost?: number;
  output_cost?: number;
  cache_read_cost?: number;
  cache_write_cost?: number;
  cache_write_hour_cost?: number;
  audio_input_cost?: number;
  audio_output_cost?: number;
}

/** Prices of a whole call whose input is longer than `above_input_tokens`. */
export interface TierPrices extends ColumnPrices {
  above_input_tokens: number;
}

/** Prices of calls in another service tier; a missing one is the usual price times the factor. */
export interface ServiceTierPrices extends ColumnPrices {
  service_tier: string;
  price_factor?: number;
  is_default?: true;
  tiers: TierPrices[];
}

/** Prices that replace all others, including tiers, from a time on; a missing one is unpriced. */
export interface StoredPriceChange extends ColumnPrices {
  /** ISO 8601, UTC. */
  effective_from: string;
  tiers: TierPrices[];
  service_tiers?: ServiceTierPrices[];
}

export interface ProviderTable {
  id: string;
  tenant_id: string;
  provider_key: string;
  name: string;
  api_format: string;
  base_url: string | null;
  api_key_sealed: string | null;
  api_key_hint: string | null;
  headers: ColumnType<Record<string, string>, string | undefined, string>;
  pass_request_headers: ColumnType<string[], string | undefined, string>;
  pass_response_headers: ColumnType<string[], string | undefined, string>;
  region: string | null;
  max_tokens_parameter: string | null;
  batch_mode: WithDefault<string>;
  storage_uri: string | null;
  storage_endpoint: string | null;
  storage_role_arn: string | null;
  enabled: WithDefault<boolean>;
  created_at: Stamp;
  updated_at: Stamp;
}

/** Price of an image with these parameters; a missing one matches any. */
export interface StoredImagePrice {
  readonly quality?: string;
  readonly size?: string;
  readonly cost: number;
}

/** Price of a million uses of a vendor's tool. */
export interface StoredToolPrice {
  readonly tool: string;
  readonly cost: number;
}

/** Price per second of video. */
export interface StoredVideoPrice {
  readonly resolution?: string;
  readonly second_cost: number;
}

export interface ModelTable {
  id: string;
  tenant_id: string;
  provider_id: string;
  name: string;
  model_name: string;
  description: string | null;
  modes: string[];
  enabled: WithDefault<boolean>;
  base_url: string | null;
  api_key_sealed: string | null;
  api_key_hint: string | null;
  default_temperature: number | null;
  default_max_tokens: number | null;
  system_prompt: string | null;
  /** Micro-dollars per million tokens, like all five; null is unpriced. */
  input_cost: number | null;
  output_cost: number | null;
  cache_read_cost: number | null;
  cache_write_cost: number | null;
  cache_write_hour_cost: number | null;
  /** Null if priced like other tokens. */
  audio_input_cost: number | null;
  audio_output_cost: number | null;
  price_tiers: JsonWithDefault<TierPrices[]>;
  price_changes: JsonWithDefault<StoredPriceChange[]>;
  service_tier_prices: JsonWithDefault<ServiceTierPrices[]>;
  /** Micro-dollars per million images, seconds, characters, seconds, searches and rerank search units; null is unpriced. */
  image_cost: number | null;
  audio_input_second_cost: number | null;
  audio_output_character_cost: number | null;
  video_second_cost: number | null;
  web_search_cost: number | null;
  search_unit_cost: number | null;
  batch_price_factor: number | null;
  /** For image and video tokens, in the unit of the token prices; null if priced like other tokens. */
  image_input_cost: number | null;
  image_output_cost: number | null;
  image_cache_read_cost: number | null;
  video_output_cost: number | null;
  /** Micro-dollars per million; the first match applies. */
  image_prices: JsonWithDefault<StoredImagePrice[]>;
  video_prices: JsonWithDefault<StoredVideoPrice[]>;
  tool_prices: JsonWithDefault<StoredToolPrice[]>;
  supported_image_qualities: WithDefault<string[]>;
  supported_video_resolutions: WithDefault<string[]>;
  supported_video_durations: WithDefault<number[]>;
  max_video_duration_seconds: number | null;
  context_window: number | null;
  max_output_tokens: number | null;
  supports_vision: WithDefault<boolean>;
  supports_tools: WithDefault<boolean>;
  supports_file_uploads: WithDefault<boolean>;
  supports_streaming: WithDefault<boolean>;
  /** Null to use the catalog's value for the model's name. */
  supports_system_turns: boolean | null;
  supports_sampling: boolean | null;
  max_tokens_parameter: string | null;
  rate_limit_rpm: number | null;
  rate_limit_tpm: number | null;
  max_concurrent_requests: number | null;
  residency_region: string | null;
  icon_url: string | null;
  routing_group_id: string | null;
  routing_weight: WithDefault<number>;
  /** When it takes over calls of its routing group's other members. */
  fallback_on: WithDefault<string[]>;
  /** Null until it was probed. */
  is_healthy: boolean | null;
  health_checked_at: NullableStamp;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface RoutingGroupTable {
  tenant_id: string;
  /** A slug, unique only within the tenant. */
  id: string;
  /** Gateway ID of the virtual model. */
  model_id: string;
  name: string;
  description: string | null;
  mode: WithDefault<string>;
  routing_strategy: WithDefault<string>;
  enabled: WithDefault<boolean>;
  allowed_fails: WithDefault<number>;
  /** Seconds, like the other durations. */
  cooldown_time: WithDefault<number>;
  cooldown_window: WithDefault<number>;
  num_retries: WithDefault<number>;
  retry_after: WithDefault<number>;
  timeout: number | null;
  rpm_limit: number | null;
  tpm_limit: number | null;
  max_parallel_requests: number | null;
  created_at: Stamp;
  updated_at: Stamp;
}
