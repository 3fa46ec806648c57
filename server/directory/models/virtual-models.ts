import type { FallbackCondition } from "@gatehouse/contracts/routing-groups";
import type { Mode, Model, ModelQuery } from "@gatehouse/contracts/models";
import { routedModels, type ModelRow } from "../../store/models/models.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { routingGroupOfVirtualModel, routingGroupStore, type RoutingGroupRow } from "../../store/models/routing-groups.ts";
import { servedWindow } from "./served-window.ts";
import type { Directory } from "../writes/write.ts";

const PROVIDER = "routing";

/** A tenant's routing groups as the virtual models that callers see. */
export async function listVirtualModels(directory: Directory, tenantId: string, filters: ModelQuery, page: Page): Promise<Paged<Model>> {
  if (filters.provider_key !== undefined && filters.provider_key !== PROVIDER) return { items: [], total: 0 };
  const groups = await routingGroupStore(tenantId).page(directory.db, tenantId, { search: filters.search }, page);
  const members = await routedModels(
    directory.db,
    tenantId,
    groups.items.map((group) => group.id),
  );
  return {
    total: groups.total,
    items: groups.items.map((group) =>
      virtualModel(
        group,
        members.filter((model) => model.routing_group_id === group.id),
      ),
    ),
  };
}

/** A single virtual model; undefined if no routing group has one with this ID. */
export async function findVirtualModel(directory: Directory, tenantId: string, id: string): Promise<Model | undefined> {
  const group = await routingGroupOfVirtualModel(directory.db, tenantId, id);
  return group === undefined ? undefined : virtualModel(group, await routedModels(directory.db, tenantId, [group.id]));
}

/** A virtual model can do only what all its members can, because any of them may serve a call. */
function virtualModel(group: RoutingGroupRow, members: readonly ModelRow[]): Model {
  const all = (can: (model: ModelRow) => boolean) => members.length > 0 && members.every(can);
  const least = (of: (model: ModelRow) => number | null) =>
    members.reduce<number | null>((low, model) => Math.min(low ?? Number.POSITIVE_INFINITY, of(model) ?? Number.POSITIVE_INFINITY), null);
  const known = (value: number | null) => (value === null || !Number.isFinite(value) ? null : value);
  return {
    id: group.model_id,
    tenant_id: group.tenant_id,
    name: group.name,
    model_name: group.id,
    provider: PROVIDER,
    provider_id: null,
    mode: "routing",
    modes: group.modes as Mode[],
    enabled: group.enabled,
    description: group.description,
    base_url: null,
    has_api_key: false,
    api_key_hint: null,
    default_temperature: null,
    default_max_tokens: null,
    system_prompt: null,
    input_cost_per_million_tokens: null,
    output_cost_per_million_tokens: null,
    cache_read_cost_per_million_tokens: null,
    cache_write_cost_per_million_tokens: null,
    cache_write_hour_cost_per_million_tokens: null,
    audio_input_cost_per_million_tokens: null,
    audio_output_cost_per_million_tokens: null,
    web_search_cost_per_thousand: null,
    search_unit_cost_per_thousand: null,
    batch_price_factor: null,
    price_tiers: [],
    service_tier_prices: [],
    price_changes: [],
    image_cost: null,
    audio_input_cost_per_second: null,
    audio_output_cost_per_million_characters: null,
    video_cost_per_second: null,
    image_input_cost_per_million_tokens: null,
    image_output_cost_per_million_tokens: null,
    image_cache_read_cost_per_million_tokens: null,
    video_output_cost_per_million_tokens: null,
    image_prices: [],
    video_prices: [],
    tool_prices: [],
    supported_image_qualities: [],
    supported_video_resolutions: [],
    supported_video_durations: [],
    max_video_duration_seconds: null,
    context_window: servedWindow(
      members.map((model) => ({
        contextWindow: model.context_window,
        weight: model.routing_weight,
        fallbackOn: model.fallback_on as FallbackCondition[],
      })),
    ),
    max_output_tokens: known(least((model) => model.max_output_tokens)),
    supports_vision: all((model) => model.supports_vision),
    supports_tools: all((model) => model.supports_tools),
    supports_file_uploads: all((model) => model.supports_file_uploads),
    supports_streaming: all((model) => model.supports_streaming),
    supports_system_turns: null,
    supports_sampling: null,
    max_tokens_parameter: null,
    rate_limit_rpm: group.rpm_limit,
    rate_limit_tpm: group.tpm_limit,
    max_concurrent_requests: group.max_parallel_requests,
    residency_region: null,
    routing_group_id: group.id,
    routing_weight: 1,
    fallback_on: ["failure"],
    is_healthy: null,
    health_checked_at: null,
    icon_url: null,
    group_ids: [],
    created_at: group.created_at.toISOString(),
    updated_at: group.updated_at.toISOString(),
  };
}
