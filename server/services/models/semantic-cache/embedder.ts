import { BoundedMap } from "../../../directory/bounded-map.ts";
import type { ModelEntry } from "../../../directory/snapshot.ts";
import { sha256Hex } from "../../../kernel/secrets.ts";
import { EmbeddingsRequest, readEmbeddingsRequest } from "../../../wire/embeddings/embeddings-request.ts";
import type { Call } from "../../../road/call.ts";
import type { Dispatch } from "../dispatch.ts";
import type { MakeNestedCall } from "../../../road/own-calls/nested-call.ts";
import { isRefusal } from "../../../kernel/errors.ts";
import { setUpOf } from "./cache-key.ts";
import { vectorIn } from "./vector-in.ts";

const MAX_CACHED = 2_000;
/** A slower embedding costs more time than it can save. */
const TIMEOUT_MS = 3_000;
/** How long a model is not asked after a timeout, so that not every call waits for it. */
const COOLDOWN_MS = 30_000;
/** Counted per tenant and model. */
const MAX_COOLDOWNS = 1_000;

const encoder = new TextEncoder();

/** Embeds questions with a model of the gateway's own, each in a nested call. */
export class Embedder {
  private readonly kept = new BoundedMap<string, Int8Array>(MAX_CACHED);
  private readonly leftAloneUntil = new BoundedMap<string, number>(MAX_COOLDOWNS);
  private readonly nest: MakeNestedCall;
  private readonly models: Pick<Dispatch, "embed">;
  private readonly now: () => number;

  /** `now`: milliseconds. */
  constructor(nest: MakeNestedCall, models: Pick<Dispatch, "embed">, now: () => number) {
    this.nest = nest;
    this.models = models;
    this.now = now;
  }

  /** Null if the embedding is unavailable now. */
  async vectorOf(call: Call, model: ModelEntry, text: string): Promise<Int8Array | null> {
    const tenantsModel = `${call.scope?.tenant.id ?? ""} ${setUpOf(model)}`;
    const key = `${tenantsModel} ${sha256Hex(text)}`;
    const known = this.kept.get(key);
    if (known !== undefined) return known;
    if ((this.leftAloneUntil.get(tenantsModel) ?? 0) > this.now()) return null;
    const body = encoder.encode(JSON.stringify({ model: model.name, input: text, encoding_format: "float" }));
    const request = readEmbeddingsRequest(body);
    if (!(request instanceof EmbeddingsRequest)) return null;
    const answer = await this.nest(call, {
      audit: { proxyType: "llm", proxySubtype: "semantic_cache_embedding" },
      path: "/v1/proxy/llm/embeddings",
      model,
      body,
      outputTokens: 0,
      timeoutMs: TIMEOUT_MS,
      waitMs: TIMEOUT_MS,
      endsWithParent: true,
      send: (nested) => this.models.embed(nested, request),
    });
    if (isRefusal(answer) && answer.code === "upstream_timeout") this.leftAloneUntil.set(tenantsModel, this.now() + COOLDOWN_MS);
    if (isRefusal(answer) || answer.failure !== null) return null;
    const vector = vectorIn(answer.body);
    if (vector !== null) this.kept.set(key, vector);
    return vector;
  }
}
