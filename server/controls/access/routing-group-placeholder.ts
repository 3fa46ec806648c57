import { PROVIDER_FORMATS } from "@gatehouse/contracts/provider-formats";
import { pricesAt } from "../../directory/models/prices.ts";
import type { RoutingGroupEntry, RoutingMember } from "../../directory/models/routing-group-entry.ts";
import type { ModelEntry } from "../../directory/snapshot.ts";
import { DEFAULT_TEMPERATURE } from "../../road/parameter-governance.ts";

/**
 * Stands for a routing group until its member is chosen: under the group's own ceilings, and with
 * the most that any of its members could cost, say or take, so that what is held for the call covers each of them. `at`:
 * when the call arrived, milliseconds; whatever the dates of the members' prices, those of that moment hold for it.
 */
export function routingGroupPlaceholder(group: RoutingGroupEntry, members: readonly RoutingMember[], at: number): ModelEntry {
  const models = members.map(({ model }) => model);
  const [first] = models;
  if (first === undefined) throw new Error("a route has no member");
  return {
    ...first,
    id: group.modelId,
    name: group.id,
    rateLimitRpm: group.rpmLimit,
    rateLimitTpm: group.tpmLimit,
    maxConcurrent: group.maxParallel,
    // A tokenizer that is not known to count as ours does may make more tokens of the same text.
    provider: (models.find(({ provider }) => !PROVIDER_FORMATS[provider.apiFormat].countsAsOpenAi) ?? first).provider,
    systemPrompt: models.map((model) => model.systemPrompt).reduce((longest, one) => (bytesOf(one) > bytesOf(longest) ? one : longest)),
    contextWindow: largest(models.map((model) => model.contextWindow)),
    maxOutputTokens: largest(models.map((model) => model.maxOutputTokens)),
    defaultTemperature: Math.max(
      ...models.map(({ supportsSampling, defaultTemperature }) => (supportsSampling ? (defaultTemperature ?? DEFAULT_TEMPERATURE) : 0)),
    ),
    defaultMaxTokens: largest(models.map((model) => model.defaultMaxTokens)),
    supportsSampling: models.some((model) => model.supportsSampling),
    priceSchedule: models.map((model) => ({ ...pricesAt(model.priceSchedule, at), from: Number.NEGATIVE_INFINITY })),
  };
}

function bytesOf(text: string | null): number {
  return Buffer.byteLength(text ?? "");
}

/** Null as soon as one of them has no bound. */
function largest(values: readonly (number | null)[]): number | null {
  return values.some((value) => value === null) ? null : Math.max(...(values as number[]));
}
