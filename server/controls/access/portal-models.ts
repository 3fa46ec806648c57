import { pricesAt } from "../../directory/models/prices.ts";
import type { RoutingGroupEntry } from "../../directory/models/routing-group-entry.ts";
import type { GroupScope, ModelEntry } from "../../directory/snapshot.ts";
import { usdFromMicros } from "../../kernel/money.ts";
import { modesOfGroup } from "./group-modes.ts";

/** A model as the portal's picker shows it (interface 2.3). */
export interface PortalModel {
  readonly id: string;
  readonly model_id: string;
  readonly name: string;
  readonly provider: string;
  readonly enabled: boolean;
  /** Result of the last probe; null if there was none. For a routing group: true if any member is healthy, null if that is unknown. */
  readonly is_healthy: boolean | null;
  /** Dollars; null if no price is set. */
  readonly input_cost_per_million_tokens: number | null;
  readonly output_cost_per_million_tokens: number | null;
  readonly context_window: number | null;
  readonly max_output_tokens: number | null;
  readonly modes: readonly string[];
  readonly supports_vision: boolean;
  readonly supports_tools: boolean;
  readonly supports_file_uploads: boolean;
  readonly supports_streaming: boolean;
  readonly icon_url: string | null;
  readonly description: string | null;
}

const dollars = (micros: number | null) => (micros === null ? null : usdFromMicros(micros));

/**
 * The models and routing groups shown to the group's callers, sorted by name. `at` selects the prices in force at that
 * time (epoch milliseconds).
 */
export function portalModels(scope: GroupScope, at: number): PortalModel[] {
  const models: PortalModel[] = [];
  for (const id of scope.granted) {
    const model = scope.tenant.models.get(id);
    if (model !== undefined && !scope.hiddenInPortal.has(id)) models.push(ofModel(model, at));
  }
  for (const group of scope.tenant.routingGroups.values()) {
    const shown = scope.hiddenInPortal.has(group.modelId) ? null : ofGroup(scope, group);
    if (shown !== null) models.push(shown);
  }
  return models.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function ofModel(model: ModelEntry, at: number): PortalModel {
  const { prices } = pricesAt(model.priceSchedule, at);
  return {
    id: model.id,
    model_id: model.modelName,
    name: model.name,
    provider: model.provider.providerKey,
    enabled: model.enabled,
    is_healthy: model.isHealthy,
    input_cost_per_million_tokens: dollars(prices.input),
    output_cost_per_million_tokens: dollars(prices.output),
    context_window: model.contextWindow,
    max_output_tokens: model.maxOutputTokens,
    modes: model.modes,
    supports_vision: model.supportsVision,
    supports_tools: model.supportsTools,
    supports_file_uploads: model.supportsFileUploads,
    supports_streaming: model.supportsStreaming,
    icon_url: model.iconUrl,
    description: model.description,
  };
}

/** Has only the capabilities that every granted member has; its price is unknown until a member is chosen. */
function ofGroup(scope: GroupScope, group: RoutingGroupEntry): PortalModel | null {
  const members = group.members.map(({ model }) => model).filter((model) => scope.granted.has(model.id) && model.enabled);
  if (members.length === 0) return null;
  const all = (can: (model: ModelEntry) => boolean) => members.every(can);
  return {
    id: group.modelId,
    model_id: group.id,
    name: group.name,
    provider: "gatehouse",
    enabled: group.enabled,
    is_healthy: healthOf(members.map((model) => model.isHealthy)),
    input_cost_per_million_tokens: null,
    output_cost_per_million_tokens: null,
    context_window: least(members.map((model) => model.contextWindow)),
    max_output_tokens: least(members.map((model) => model.maxOutputTokens)),
    modes: modesOfGroup(group, members),
    supports_vision: all((model) => model.supportsVision),
    supports_tools: all((model) => model.supportsTools),
    supports_file_uploads: all((model) => model.supportsFileUploads),
    supports_streaming: all((model) => model.supportsStreaming),
    icon_url: null,
    description: group.description,
  };
}

/** One healthy member makes the group healthy; otherwise one unknown member makes it unknown. */
function healthOf(members: readonly (boolean | null)[]): boolean | null {
  if (members.includes(true)) return true;
  return members.includes(null) ? null : false;
}

function least(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.min(...known);
}
