import type { Mode, Model } from "@gatehouse/contracts/models";
import type { ModelRow } from "../../store/models.ts";
import { priceMembers } from "./price-columns.ts";

/** A model as the admin API shows it. */
export function readModel(row: ModelRow): Model {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    name: row.name,
    model_name: row.model_name,
    provider: row.provider_key,
    provider_id: row.provider_id,
    mode: (row.modes[0] ?? "chat") as Mode,
    modes: row.modes as Mode[],
    enabled: row.enabled,
    description: row.description,
    base_url: row.base_url,
    has_api_key: row.api_key_sealed !== null,
    api_key_hint: row.api_key_hint,
    default_temperature: row.default_temperature,
    default_max_tokens: row.default_max_tokens,
    system_prompt: row.system_prompt,
    ...priceMembers(row),
    supported_image_qualities: row.supported_image_qualities,
    supported_video_resolutions: row.supported_video_resolutions,
    supported_video_durations: row.supported_video_durations,
    max_video_duration_seconds: row.max_video_duration_seconds,
    context_window: row.context_window,
    max_output_tokens: row.max_output_tokens,
    supports_vision: row.supports_vision,
    supports_tools: row.supports_tools,
    supports_file_uploads: row.supports_file_uploads,
    supports_streaming: row.supports_streaming,
    rate_limit_rpm: row.rate_limit_rpm,
    rate_limit_tpm: row.rate_limit_tpm,
    max_concurrent_requests: row.max_concurrent_requests,
    residency_region: row.residency_region,
    routing_group_id: row.routing_group_id,
    routing_weight: row.routing_weight,
    is_healthy: row.is_healthy,
    health_checked_at: row.health_checked_at?.toISOString() ?? null,
    icon_url: row.icon_url,
    group_ids: row.group_ids,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
