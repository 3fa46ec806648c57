import { PROVIDER_FORMATS } from "@gatehouse/contracts/provider-formats";
import { BoundedMap } from "../../../directory/bounded-map.ts";
import type { ModelEntry } from "../../../directory/snapshot.ts";
import type { Call } from "../../../road/call.ts";
import { hasTag } from "../../../road/record/add-tag.ts";
import type { LimitedCall } from "../limited-call.ts";

/** Tokens of a text by a tokenizer that need not be the model's own; null where nobody has the time to count. */
export type CountTokens = (tenantId: string, text: string) => Promise<number | null>;

interface Sample {
  /** What the cheap bound was. */
  readonly bytes: number;
  /** Null of a call that was not counted. */
  readonly counted: number | null;
  /** What the provider told. */
  readonly tokens: number;
}

/** Calls of a tenant to a model that are remembered, and how many of the same size tell what the next comes to. */
const REMEMBERED = 32;
const ENOUGH = 3;
const MOST_KEYS = 10_000;
/** Calls within this factor of the size are of the same size. */
const ALIKE = 2;
/** What a count may be short by. */
const MARGIN = 1.02;
/** What tokenizers of other vendors make of a text beside the one that counts, until calls have told. */
const OTHERS = 1.25;

const decoder = new TextDecoder();

/**
 * What a request comes to, more closely than by its bytes: the tokens counted in it, by what counts of the model's recent calls
 * were worth. Asked only where the cheap bound does not fit.
 */
export class InputCounts {
  private readonly samples = new BoundedMap<string, Sample[]>(MOST_KEYS);
  private readonly countTokens: CountTokens;

  constructor(countTokens: CountTokens) {
    this.countTokens = countTokens;
  }

  /** The most the request comes to, and what was counted in it; null where it is not known better than by its bytes. */
  async boundOf({ call, model, worst }: LimitedCall): Promise<{ readonly inputTokens: number; readonly counted: number } | null> {
    const tenantId = call.scope?.tenant.id;
    const content = call.requestContent;
    if (tenantId === undefined || model === null || worst === null || content === null) return null;
    const text = typeof content === "string" ? content : decoder.decode(content);
    const counted = await this.countTokens(tenantId, text);
    if (counted === null) return null;
    const bytes = worst.inputBytes;
    // What is put beside the request is not in it.
    const added = Math.max(0, bytes - Buffer.byteLength(text));
    const inputTokens = Math.min(bytes, Math.ceil(this.worth(tenantId, model, bytes, counted)) + added);
    return inputTokens < bytes ? { inputTokens, counted } : null;
  }

  /** Told of each call that was bounded and has ended. */
  learn(call: Call, { model, worst, counted }: LimitedCall, tokens: number): void {
    const tenantId = call.scope?.tenant.id;
    if (tenantId === undefined || model === null || worst === null || tokens <= 0 || worst.inputBytes <= 0) return;
    // Only what a provider told says what the model makes of a text.
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
    // A count is worth no less than it says: what taught a lower ratio may have been another kind of content.
    if (ratios.length > 0) return counted * Math.max(1, ...ratios) * MARGIN;
    const alike = samples.filter((one) => one.bytes * ALIKE >= bytes && one.bytes <= bytes * ALIKE).map((one) => one.tokens / one.bytes);
    if (alike.length >= ENOUGH) return Math.max(counted, bytes * Math.max(...alike)) * MARGIN;
    return counted * (PROVIDER_FORMATS[model.provider.apiFormat].countsAsOpenAi ? MARGIN : OTHERS);
  }
}

const keyOf = (tenantId: string, { id }: ModelEntry) => `${tenantId} ${id}`;
