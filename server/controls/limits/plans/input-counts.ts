import { PROVIDER_FORMATS } from "@gatehouse/contracts/provider-formats";
import { BoundedMap } from "../../../directory/bounded-map.ts";
import type { ModelEntry } from "../../../directory/snapshot.ts";
import type { Call } from "../../../road/call.ts";
import { hasTag } from "../../../road/record/add-tag.ts";
import type { LimitedCall } from "../limited-call.ts";

/** Counts a text's tokens with a tokenizer that may not be the model's own; null if there is no capacity to count. */
export type CountTokens = (tenantId: string, text: string) => Promise<number | null>;

interface Sample {
  /** The bound from the request's bytes. */
  readonly bytes: number;
  /** Null if the call's tokens were not counted. */
  readonly counted: number | null;
  /** Input tokens reported by the provider. */
  readonly tokens: number;
}

/** Samples kept per tenant and model, and how many of similar size suffice for an estimate. */
const REMEMBERED = 32;
const ENOUGH = 3;
const MAX_KEYS = 10_000;
/** Sizes within this factor of each other are similar. */
const ALIKE = 2;
/** Factor for what a count may be too low by. */
const MARGIN = 1.02;
/** Assumed ratio of other vendors' tokenizers to the counting one, until samples show the real one. */
const OTHERS = 1.25;

const decoder = new TextDecoder();

/**
 * A tighter bound on a request's input than its bytes: its counted tokens, scaled by how counts of the model's recent
 * calls compared with the provider's. Used only if the bound by bytes does not fit.
 */
export class InputCounts {
  private readonly samples = new BoundedMap<string, Sample[]>(MAX_KEYS);
  private readonly countTokens: CountTokens;

  constructor(countTokens: CountTokens) {
    this.countTokens = countTokens;
  }

  /** The request's maximum input tokens and its counted tokens; null if that is no better than the bound by bytes. */
  async boundOf({ call, model, worst }: LimitedCall): Promise<{ readonly inputTokens: number; readonly counted: number } | null> {
    const tenantId = call.scope?.tenant.id;
    const content = call.requestContent;
    if (tenantId === undefined || model === null || worst === null || content === null) return null;
    const text = typeof content === "string" ? content : decoder.decode(content);
    const counted = await this.countTokens(tenantId, text);
    if (counted === null) return null;
    const bytes = worst.inputBytes;
    // Text added outside the request's content was not counted.
    const added = Math.max(0, bytes - Buffer.byteLength(text));
    const inputTokens = Math.min(bytes, Math.ceil(this.worth(tenantId, model, bytes, counted)) + added);
    return inputTokens < bytes ? { inputTokens, counted } : null;
  }

  /** Records the actual input of a bounded call that has ended. */
  learnCount(call: Call, { model, worst, counted }: LimitedCall, tokens: number): void {
    const tenantId = call.scope?.tenant.id;
    if (tenantId === undefined || model === null || worst === null || tokens <= 0 || worst.inputBytes <= 0) return;
    // Only counts reported by the provider show how the model tokenizes.
    if (hasTag(call, "usage_estimated")) return;
    const bytes = worst.inputBytes;
    const key = keyOf(tenantId, model);
    const known = this.samples.get(key);
    if (known === undefined) this.samples.set(key, [{ bytes, counted, tokens }]);
    else {
      known.push({ bytes, counted, tokens });
      if (known.length > REMEMBERED) known.shift();
    }
  }

  private worth(tenantId: string, model: ModelEntry, bytes: number, counted: number): number {
    const samples = this.samples.get(keyOf(tenantId, model)) ?? [];
    const ratios = samples.flatMap((one) => (one.counted === null ? [] : [one.tokens / one.counted]));
    // Never scale below the count itself: a lower ratio may come from another kind of content.
    if (ratios.length > 0) return counted * Math.max(1, ...ratios) * MARGIN;
    const alike = samples.filter((one) => one.bytes * ALIKE >= bytes && one.bytes <= bytes * ALIKE).map((one) => one.tokens / one.bytes);
    if (alike.length >= ENOUGH) return Math.max(counted, bytes * Math.max(...alike)) * MARGIN;
    return counted * (PROVIDER_FORMATS[model.provider.apiFormat].countsAsOpenAi ? MARGIN : OTHERS);
  }
}

const keyOf = (tenantId: string, { id }: ModelEntry) => `${tenantId} ${id}`;
