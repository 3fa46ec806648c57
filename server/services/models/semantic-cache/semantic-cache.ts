import type { SemanticCacheEntry } from "../../../directory/semantic-cache/config-entry.ts";
import { semanticCacheOf } from "../../../directory/semantic-cache/config-of-scope.ts";
import type { StoredAnswer, StoredAnswers } from "../../../directory/semantic-cache/stored-answers.ts";
import type { GroupScope } from "../../../directory/snapshot.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { type Refusal, isRefusal } from "../../../kernel/errors.ts";
import { ulid } from "../../../kernel/ids.ts";
import type { Log } from "../../../kernel/log.ts";
import type { ConversationReply } from "../../../wire/conversation/reply.ts";
import { inputTokens } from "../../../wire/usage.ts";
import { isAnswered } from "../../../road/own-calls/batched.ts";
import type { Call } from "../../../road/call.ts";
import type { MakeNestedCall } from "../../../road/own-calls/nested-call.ts";
import type { Conversation } from "../../../road/request/conversation.ts";
import type { AttemptParts } from "../routing/attempt.ts";
import type { Dispatch } from "../dispatch.ts";
import type { Answer } from "../../../road/answer.ts";
import { cacheKeys, type CacheKeys } from "./cache-key.ts";
import { Embedder } from "./embedder.ts";
import { recordAnswer } from "./recorded-answer.ts";
import { withinLookupTime } from "./lookup-time.ts";
import { replayed } from "./replay.ts";
import { mayStore, mayReuse } from "./reusable.ts";
import { VectorIndex } from "./vector-index.ts";
import { WeighedMap } from "./weighed-map.ts";
import { modelOf } from "../../../road/target.ts";
import { noteSettings } from "../../../road/record/settings.ts";
import { outboundChanges } from "../requests/conversation.ts";

export interface SemanticCacheParts {
  readonly stored: StoredAnswers;
  readonly clock: Clock;
  readonly log: Log;
  readonly nest: MakeNestedCall;
  /** Dispatch without the cache. */
  readonly models: Dispatch;
  readonly providers: AttemptParts["providers"];
}

const MAX_BYTES = 64 * 1024 * 1024;
/** Most writes in flight; if the database falls behind, further answers are kept in this process's memory only. */
const MAX_STORING = 200;

/** One call's use of the cache. */
interface Lookup {
  readonly call: Call;
  readonly conversation: Conversation;
  readonly cache: SemanticCacheEntry;
  readonly keys: CacheKeys;
  readonly of: { readonly tenantId: string; readonly configId: string; readonly generation: string };
  /** The question's embedding; null if there is no question to compare. */
  vector: Int8Array | null;
}

/**
 * Serves stored answers to requests that ask the same, instead of calling a model (docs/guides/semantic-cache.md). It fails open: an error
 * here makes a call slower or more expensive, never wrong.
 */
export class SemanticCache {
  private readonly parts: SemanticCacheParts;
  private readonly answers = new WeighedMap<StoredAnswer>(MAX_BYTES);
  private readonly spaces: VectorIndex;
  private readonly embedder: Embedder;
  private readonly configs = new WeakMap<GroupScope, { readonly cache: SemanticCacheEntry | null }>();
  private readonly storing = new Set<Promise<void>>();

  constructor(parts: SemanticCacheParts) {
    this.parts = parts;
    this.spaces = new VectorIndex(parts.stored, () => parts.clock.now());
    this.embedder = new Embedder(parts.nest, parts.models, () => parts.clock.now());
  }

  /** Dispatch with the cache. */
  get models(): Dispatch {
    return { ...this.parts.models, converse: (call, conversation) => this.converse(call, conversation) };
  }

  /** Resolves when all pending writes are done or have failed. */
  async settled(): Promise<void> {
    await Promise.all(this.storing);
  }

  private async converse(call: Call, conversation: Conversation): Promise<Answer | Refusal> {
    const { models } = this.parts;
    const lookup = this.lookupOf(call, conversation);
    if (lookup === null) return models.converse(call, conversation);
    const hit = hasDirective(call, "no-cache") ? null : await this.find(lookup).catch((error: unknown) => this.failed(call, error));
    if (hit !== null) return this.give(lookup, hit);
    call.row.llm_cache_hit = false;
    const answer = await models.converse(call, conversation);
    return isRefusal(answer) ? answer : this.keep(lookup, answer);
  }

  private lookupOf(call: Call, conversation: Conversation): Lookup | null {
    const { scope } = call;
    if (scope === null || isAnswered(call)) return null;
    let known = this.configs.get(scope);
    if (known === undefined) this.configs.set(scope, (known = { cache: semanticCacheOf(scope) }));
    const { cache } = known;
    if (cache === null || hasDirective(call, "no-store") || !mayReuse(call, conversation, cache)) return null;
    return {
      call,
      conversation,
      cache,
      keys: cacheKeys(call, conversation, cache, this.ownerOf(call, conversation)),
      of: { tenantId: scope.tenant.id, configId: cache.id, generation: cache.generation },
      vector: null,
    };
  }

  /**
   * The owner of an answer that its provider stores: the caller continues from it by ID, so nobody else may get it. "" for other answers.
   */
  private ownerOf({ identity, scope, target }: Call, { caller, isStored }: Conversation): string {
    if (isStored !== true || target.kind !== "model") return "";
    const isKept = target.route.members.some(({ model }) => {
      const traits = this.parts.providers[model.provider.apiFormat]?.traits;
      return traits?.keepsState(model) === true && traits.codecFor(model, caller.format).format === caller.format;
    });
    return isKept ? (identity?.userId ?? scope?.groupId ?? "") : "";
  }

  private async find(lookup: Lookup): Promise<Hit | null> {
    const { cache, keys } = lookup;
    const exact = cache.exactTtl === null ? null : await this.findExact(lookup);
    if (exact !== null && this.young(exact, cache.exactTtl)) return { stored: exact, layer: "exact", score: null };
    if (cache.semantic === null || keys.near === null) return null;
    lookup.vector = await this.embedder.vectorOf(lookup.call, cache.semantic.model, keys.near.question);
    if (lookup.vector === null) return null;
    const nearest = await withinLookupTime(this.spaces.nearest(lookup.of, keys.near.space, lookup.vector, cache.semantic.threshold));
    if (nearest === null) return null;
    const stored = await this.fetched(lookup, `id ${nearest.found.id}`, () => this.parts.stored.byId(lookup.of, nearest.found));
    return stored === null || !this.young(stored, cache.semantic.ttl)
      ? null
      : { stored, layer: "semantic", score: Math.round(nearest.score * 10_000) / 10_000 };
  }

  /** A time to live that was shortened applies to earlier answers too. */
  private young({ storedAt }: StoredAnswer, ttl: number | null): boolean {
    return ttl !== null && storedAt + ttl * 1000 > this.parts.clock.now();
  }

  private findExact(lookup: Lookup): Promise<StoredAnswer | null> {
    return this.fetched(lookup, lookup.keys.exact, () => this.parts.stored.byKey(lookup.of, lookup.keys.exact));
  }

  /** From memory, else from the database. */
  private async fetched({ of }: Lookup, name: string, fetch: () => Promise<StoredAnswer | null>): Promise<StoredAnswer | null> {
    const key = memoryKey(of, name);
    const held = this.answers.get(key);
    if (held !== undefined) {
      if (held.until > this.parts.clock.now()) return held;
      this.answers.delete(key);
    }
    const stored = await withinLookupTime(fetch());
    if (stored !== null) this.hold(key, stored);
    return stored;
  }

  private hold(key: string, stored: StoredAnswer): void {
    this.answers.set(key, stored, JSON.stringify(stored.answer).length * 2 + 500);
  }

  private give({ call, conversation }: Lookup, { stored, layer, score }: Hit): Answer {
    const { row } = call;
    const model = modelOf(call);
    if (model === null) throw new Error("a call was answered that no control had resolved");
    row.llm_model_used = stored.modelName;
    noteSettings(row, conversation.inbound.sentSettings(outboundChanges(model)));
    row.llm_cache_hit = true;
    row.llm_cache_layer = layer;
    row.llm_tokens_saved = stored.tokens;
    row.llm_cache_similarity_score = score;
    // Zero even for unpriced models, because nothing was bought.
    row.llm_estimated_cost_usd = 0;
    const answer = replayed(call, conversation, stored.answer as ConversationReply, model);
    Object.assign(answer.headers, {
      "x-gw-cache": layer,
      age: String(Math.max(0, Math.floor((this.parts.clock.now() - stored.storedAt) / 1000))),
    });
    return answer;
  }

  /** Stores an answer once its call has ended without an error and no control has acted on it. */
  private keep(lookup: Lookup, answer: Answer): Answer {
    if (answer.status !== 200) return answer;
    const { call } = lookup;
    const kept = recordAnswer(lookup.conversation, answer);
    call.whenEnded.push((errorType) => {
      if (errorType !== null || !call.answerReusable || touched(call)) return;
      try {
        const reply = kept.reply();
        if (reply !== null && mayStore(reply, lookup.cache)) this.store(lookup, reply);
      } catch (error) {
        this.failed(call, error);
      }
    });
    return kept.answer;
  }

  /** Stored in memory at once, so that the caller's next request finds it, and in the database in the background. */
  private store(lookup: Lookup, reply: ConversationReply): void {
    const { call, cache, keys, of, vector } = lookup;
    const model = modelOf(call);
    if (model === null || reply.usage === null) return;
    const now = this.parts.clock.now();
    const tokens = inputTokens(reply.usage) + reply.usage.output;
    const semantic =
      cache.semantic === null || keys.near === null || vector === null ? null : { space: keys.near.space, vector, ttl: cache.semantic.ttl };
    if (cache.exactTtl === null && semantic === null) return;
    const stored: StoredAnswer = { answer: reply, modelName: model.name, tokens, storedAt: now, until: now + (cache.exactTtl ?? 0) * 1000 };
    const id = ulid(now);
    if (cache.exactTtl !== null) this.hold(memoryKey(of, keys.exact), stored);
    if (semantic !== null) {
      const until = now + semantic.ttl * 1000;
      this.hold(memoryKey(of, `id ${id}`), { ...stored, until });
      this.spaces.add(of, semantic.space, { id, vector: semantic.vector, until });
    }
    if (this.storing.size >= MAX_STORING) return;
    const written = this.parts.stored.store(of, of.generation, {
      id,
      at: now,
      exactKey: keys.exact,
      modelId: model.id,
      modelName: model.name,
      answer: reply,
      tokens,
      callId: call.id,
      endUserId: call.identity?.userId ?? null,
      apiKeyId: call.row.api_key_id ?? null,
      exactTtl: cache.exactTtl,
      semantic,
    });
    const work: Promise<void> = written.catch((error: unknown) => void this.failed(call, error)).finally(() => this.storing.delete(work));
    this.storing.add(work);
  }

  private failed(call: Call, error: unknown): null {
    this.parts.log.warn("semantic_cache_failed", { call_id: call.id, error: error instanceof Error ? error : new Error(String(error)) });
    return null;
  }
}

interface Hit {
  readonly stored: StoredAnswer;
  readonly layer: "exact" | "semantic";
  readonly score: number | null;
}

function memoryKey({ tenantId, configId, generation }: Lookup["of"], name: string): string {
  return `${tenantId} ${configId} ${generation} ${name}`;
}

/** Whether the row shows a guardrail or policy that acted on the call, or could not be applied. */
function touched({ row }: Call): boolean {
  return (
    row.guardrail_action != null ||
    row.argument_policy_id != null ||
    row.semantic_policy_id != null ||
    row.guardrail_blocked === true ||
    row.guardrails_degraded === true ||
    row.guardrails_skipped === true
  );
}

/** Whether the caller's `Cache-Control` has the directive: no-cache requests a fresh answer, no-store forbids storing it. */
function hasDirective({ headers }: Call, directive: "no-cache" | "no-store"): boolean {
  const directives = headers.get("cache-control");
  return (
    directives !== null &&
    directives
      .toLowerCase()
      .split(",")
      .some((part) => part.trim() === directive)
  );
}
