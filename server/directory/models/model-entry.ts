import { type ApiFormat, providerFormat } from "@gatehouse/contracts/provider-formats";
import type { Selectable } from "kysely";
import { sealContext, type SecretBox } from "../../kernel/secrets.ts";
import type { ModelTable, ProviderTable } from "../../store/tables/models.ts";
import { dialectByName } from "./catalog/model-facts.ts";
import { priceSchedule, type DatedPrices } from "./prices.ts";

export interface ModelEntry {
  readonly id: string;
  readonly name: string;
  readonly modelName: string;
  readonly description: string | null;
  readonly iconUrl: string | null;
  readonly modes: readonly string[];
  /** Both the model and its provider. */
  readonly enabled: boolean;
  readonly createdSeconds: number;
  readonly contextWindow: number | null;
  readonly maxOutputTokens: number | null;
  readonly defaultTemperature: number | null;
  readonly defaultMaxTokens: number | null;
  readonly systemPrompt: string | null;
  readonly supportsVision: boolean;
  readonly supportsTools: boolean;
  readonly supportsFileUploads: boolean;
  readonly supportsStreaming: boolean;
  /** Whether system messages are allowed within a conversation. */
  readonly supportsSystemTurns: boolean;
  /** Whether temperature, top p and top k are accepted. */
  readonly supportsSampling: boolean;
  /** The name that its server uses for the output limit; null if unknown. */
  readonly maxTokensParameter: "max_tokens" | "max_completion_tokens" | null;
  /** The model's own limits across all groups: requests and tokens per minute, concurrent calls. Null is unlimited. */
  readonly rateLimitRpm: number | null;
  readonly rateLimitTpm: number | null;
  readonly maxConcurrent: number | null;
  /** Empty or absent: unrestricted. */
  readonly supportedImageQualities?: readonly string[];
  readonly supportedVideoResolutions?: readonly string[];
  /** Seconds. */
  readonly supportedVideoDurations?: readonly number[];
  /** Null or absent: unrestricted. */
  readonly maxVideoDurationSeconds?: number | null;
  /** Oldest first, never empty; the first entry has no start date. */
  readonly priceSchedule: readonly DatedPrices[];
  /** The share of the usual prices that applies in its provider's batches; a half if omitted. */
  readonly batchPriceFactor?: number;
  /** The result of the last probe; null if never probed. */
  readonly isHealthy: boolean | null;
  readonly provider: ProviderEntry;
}

export interface ProviderEntry {
  readonly providerKey: string;
  readonly apiFormat: ApiFormat;
  readonly baseUrl: string;
  /** Decrypted; held only in memory. */
  readonly apiKey: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** Additional request and response headers to pass through, by name (`isNamed`); none if omitted. */
  readonly passRequestHeaders?: readonly string[];
  readonly passResponseHeaders?: readonly string[];
  readonly region: string | null;
  /** Whether the provider runs its models' batches itself. */
  readonly runsBatches?: boolean;
  /** The bucket for batch input and output (`s3://` or `gs://`), at the vendor's own store if `endpoint` is null; none if omitted. */
  readonly storage?: { readonly uri: string; readonly endpoint: string | null; readonly roleArn: string | null };
}

/** The origin that a key was given for; it is sent nowhere else. */
export function originOf(address: string | null): string {
  return address === null ? "" : new URL(address).origin;
}

/** Anthropic's models, wherever they are served. */
const CLAUDE = /claude/i;

/** `open` decrypts the tenant's secrets; `providerKey` is the provider's own key, decrypted. */
export function modelEntry(
  row: Selectable<ModelTable>,
  provider: Selectable<ProviderTable>,
  providerKey: string | null,
  open: SecretBox["openOrNull"],
): ModelEntry {
  const dialect = dialectByName(row.model_name);
  const format = providerFormat(provider.api_format);
  // The provider may have received its key or another host after the model received its address.
  const providersHost = row.base_url === null || originOf(row.base_url) === originOf(provider.base_url);
  return {
    id: row.id,
    name: row.name,
    modelName: row.model_name,
    description: row.description,
    iconUrl: row.icon_url,
    modes: row.modes,
    enabled: row.enabled && provider.enabled,
    createdSeconds: Math.floor(row.created_at.getTime() / 1000),
    contextWindow: row.context_window,
    maxOutputTokens: row.max_output_tokens,
    defaultTemperature: row.default_temperature,
    defaultMaxTokens: row.default_max_tokens,
    systemPrompt: row.system_prompt,
    supportsVision: row.supports_vision,
    supportsTools: row.supports_tools,
    supportsFileUploads: row.supports_file_uploads,
    supportsStreaming: row.supports_streaming,
    supportsSystemTurns: row.supports_system_turns ?? dialect.supports_system_turns ?? true,
    supportsSampling: row.supports_sampling ?? dialect.supports_sampling ?? true,
    maxTokensParameter: (row.max_tokens_parameter ?? provider.max_tokens_parameter) as ModelEntry["maxTokensParameter"],
    rateLimitRpm: row.rate_limit_rpm,
    rateLimitTpm: row.rate_limit_tpm,
    maxConcurrent: row.max_concurrent_requests,
    supportedImageQualities: row.supported_image_qualities,
    supportedVideoResolutions: row.supported_video_resolutions,
    supportedVideoDurations: row.supported_video_durations,
    maxVideoDurationSeconds: row.max_video_duration_seconds,
    priceSchedule: priceSchedule(row, format?.hourlyCacheWrites === true || CLAUDE.test(row.model_name), format?.serviceTierFactors ?? {}),
    ...(row.batch_price_factor === null ? {} : { batchPriceFactor: row.batch_price_factor }),
    isHealthy: row.is_healthy,
    provider: {
      providerKey: provider.provider_key,
      apiFormat: provider.api_format as ApiFormat,
      baseUrl: (row.base_url ?? provider.base_url ?? "").replace(/\/+$/, ""),
      apiKey: row.api_key_sealed === null ? (providersHost ? providerKey : null) : open(row.api_key_sealed, sealContext("models", row.id)),
      headers: provider.headers,
      passRequestHeaders: provider.pass_request_headers,
      passResponseHeaders: provider.pass_response_headers,
      region: row.residency_region ?? provider.region,
      runsBatches: provider.batch_mode === "provider",
      ...(provider.storage_uri === null
        ? {}
        : { storage: { uri: provider.storage_uri, endpoint: provider.storage_endpoint, roleArn: provider.storage_role_arn } }),
    },
  };
}
