import { PROVIDER_FORMATS } from "@gatehouse/contracts/provider-formats";
import { pricesAt } from "../../directory/models/prices.ts";
import type { RoutingGroupEntry, RoutingMember } from "../../directory/models/routing-group-entry.ts";
import type { ModelEntry } from "../../directory/snapshot.ts";
import { DEFAULT_TEMPERATURE } from "../../road/policy/parameter-governance.ts";

/**
 * Stands in for a routing group until a member is chosen. It has the group's own limits and the members' largest
 * possible cost, input and output, so that the call's hold covers whichever member serves it. Prices are those in
 * force at `at`, when the call arrived (epoch milliseconds).
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
    // A tokenizer not known to count like OpenAI's may produce more tokens for the same text.
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

/** Null (unbounded) if any value is null. */
function largest(values: readonly (number | null)[]): number | null {
  return values.some((value) => value === null) ? null : Math.max(...(values as number[]));
}
