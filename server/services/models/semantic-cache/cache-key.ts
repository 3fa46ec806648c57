import { holdsFor } from "../../../directory/policies/bound-groups.ts";
import { semanticPoliciesOf } from "../../../directory/semantic-policies/policy-entry.ts";
import type { SemanticCacheEntry } from "../../../directory/semantic-cache/config-entry.ts";
import type { GroupScope, ModelEntry } from "../../../directory/snapshot.ts";
import { isRawJson } from "../../../kernel/text/exact-numbers.ts";
import { sha256Hex } from "../../../kernel/secrets.ts";
import type { JsonObject, JsonValue } from "../../../kernel/json-value.ts";
import type { Call } from "../../../road/call.ts";
import { surfaceOf } from "../../../road/request/content-surface.ts";
import type { Route } from "../../../road/target.ts";
import type { Conversation } from "../../../road/request/conversation.ts";
import { forwardedHeaders } from "../passed-headers.ts";
import { questionOf } from "./question.ts";
import { routeOf } from "../../../road/target.ts";

/** The keys an answer is stored and found under. Requests with equal keys may share an answer. */
export interface CacheKeys {
  /** From the whole request. */
  readonly exact: string;
  /** From everything but the question's text; null if there is no question to compare. */
  readonly near: { readonly space: string; readonly question: string } | null;
}

/** Members that only say who asks or how the answer is delivered. */
const WITHOUT_MEANING: ReadonlySet<string> = new Set([
  "model",
  "model_id",
  "stream",
  "stream_options",
  "user",
  "safety_identifier",
  "metadata",
  "prompt_cache_key",
  "prompt_cache_retention",
  "service_tier",
  "store",
  "labels",
]);

/** Headers that differ with each retry. */
const NOT_KEYED: ReadonlySet<string> = new Set(["idempotency-key"]);

/**
 * Everything an answer depends on besides the request is in the key: tenant, cache configuration, group (unless the tenant shares answers),
 * the models that may serve it with their settings, forwarded headers, and policies. A change of any of them makes earlier answers
 * unreachable. `only`: the one owner who may get the answer; "" for anybody.
 */
export function cacheKeys(call: Call, conversation: Conversation, cache: SemanticCacheEntry, only = ""): CacheKeys {
  const { scope } = call;
  const route = routeOf(call);
  if (scope === null || route === null) throw new Error("a call without a scope or a route has no cache key");
  const { caller, inbound, headers } = conversation;
  const keyed: JsonObject = {};
  for (const [name, value] of Object.entries(inbound.exactBody)) if (!WITHOUT_MEANING.has(name) && value !== undefined) keyed[name] = value;
  const keyedHeaders = Object.entries(headers).filter(([name]) => !NOT_KEYED.has(name));
  const passed = route.members.map(({ model }) => forwardedHeaders(call, model));
  const ground = [
    scope.tenant.id,
    cache.id,
    cache.scope === "group" ? scope.groupId : "",
    conditionsOf(scope, route),
    caller.format,
    // Answers from another surface were judged by that surface's policies.
    surfaceOf(call.audit.proxySubtype, "output") ?? "",
    canonical(keyedHeaders as JsonValue[]),
    canonical(passed),
    only,
  ];
  const exact = digest([...ground, canonical(keyed)]);
  const split = cache.semantic === null ? null : questionOf(caller, keyed);
  if (split === null || cache.semantic === null) return { exact, near: null };
  // A different number makes it a different question, however similar the words are.
  const figures = (split.question.match(/\p{N}+(?:[.,]\p{N}+)*/gu) ?? []).join(" ");
  return {
    exact,
    near: { space: digest([...ground, "near", setUpOf(cache.semantic.model), figures, canonical(split.rest)]), question: split.question },
  };
}

const known = new WeakMap<GroupScope, Map<string, string>>();

/** Digest of the current models and policies; computed once per route, because a snapshot never changes. */
function conditionsOf(scope: GroupScope, route: Route): string {
  let byRoute = known.get(scope);
  if (byRoute === undefined) known.set(scope, (byRoute = new Map()));
  const models = route.members.map(({ model }) => model);
  const name = `${route.group?.modelId ?? ""} ${models.map(({ id }) => id).join(" ")}`;
  let found = byRoute.get(name);
  if (found === undefined) byRoute.set(name, (found = digest([name, ...models.map(setUpOf), policiesOf(scope, models)])));
  return found;
}

/** Properties of a model that do not affect its answers. */
const BESIDE_THE_ANSWER: ReadonlySet<string> = new Set([
  "createdSeconds",
  "rateLimitRpm",
  "rateLimitTpm",
  "maxConcurrent",
  "priceSchedule",
  "isHealthy",
  "apiKey",
]);

const setUps = new WeakMap<ModelEntry, string>();

/** Digest of a model's settings; different if its answers may differ. */
export function setUpOf(model: ModelEntry): string {
  let found = setUps.get(model);
  if (found === undefined)
    setUps.set(
      model,
      (found = digest([JSON.stringify(model, (name, value: unknown) => (BESIDE_THE_ANSWER.has(name) ? undefined : value))])),
    );
  return found;
}

function policiesOf(scope: GroupScope, models: readonly ModelEntry[]): string {
  const { tenant, groupId, chain } = scope;
  const governance = models.map(({ id }) =>
    [...tenant.policies.effective(groupId, "llm_governance", id)].sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  const semantic = semanticPoliciesOf(scope).map(({ id, constraintText, action, mode, surfaces, judgeModelId, onFailure }) => [
    id,
    constraintText,
    action,
    mode,
    [...surfaces].sort(),
    judgeModelId ?? tenant.defaultJudgeModelId,
    onFailure,
  ]);
  const guardrails = tenant.guardrails.filter(({ groupIds }) => holdsFor(groupIds, chain)).map(({ version }) => version);
  const calls = tenant.argumentPolicies.filter(({ groupIds }) => holdsFor(groupIds, chain)).map(({ policy }) => policy);
  return JSON.stringify([[...tenant.allowedRegions].sort(), governance, semantic, guardrails, calls]);
}

function digest(parts: readonly string[]): string {
  return sha256Hex(JSON.stringify(parts));
}

/** JSON text with object members sorted, so that equal values have equal texts. */
export function canonical(value: JsonValue | Readonly<Record<string, string>> | undefined): string {
  if (value === null || value === undefined || typeof value !== "object" || isRawJson(value)) return JSON.stringify(value ?? null);
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item)).join(",")}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`)
    .join(",")}}`;
}
