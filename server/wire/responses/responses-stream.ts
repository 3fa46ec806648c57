import { concat } from "../streams/adjoining-bytes.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { sealsIn } from "./item-references.ts";
import { filledOf, objectOf, stringOf } from "../openai/loose-fields.ts";
import { type FrameReader, lengthUnder, PassingFrames } from "../streams/passing-frames.ts";
import { frameData, isWholeEvent } from "../streams/sse-data.ts";
import type { StreamCodec, StreamEnding, StreamPiece } from "../streams/stream.ts";
import { servingByOpenAi } from "../serving.ts";
import type { ServiceTier, Usage } from "../usage.ts";
import { ResponseToolUses, type VendorFees } from "../vendor-tools.ts";
import { isWebSearch, usageOfResponse } from "./usage.ts";

const decoder = new TextDecoder();
/** A complete response, an error, or an item. */
const MUST_PARSE = /"response"\s*:|"item"\s*:|"error"|\r/;

/**
 * Passes a streamed response through byte for byte. The final event, with anything after it, is held back until the audit
 * row is sealed.
 */
export class ResponsesStream implements StreamCodec, FrameReader {
  readonly telling = MUST_PARSE;
  private readonly frames = new PassingFrames(this);
  private readonly onResponse: (response: JsonObject) => unknown;
  private readonly metered: boolean;
  private readonly sealed: (seals: readonly string[]) => void;
  private readonly seals = new Set<string>();
  private readonly closing: Uint8Array[] = [];
  private finished = false;
  private found: Usage | null = null;
  private tier: unknown = null;
  /** Counted from completed items, in case the stream breaks off before its final event reports the usage. */
  private searches = 0;
  private readonly uses = new ResponseToolUses();
  outputLength = 0;
  begun = false;
  providerError: string | null = null;

  /**
   * `onResponse` is called with each complete response object in an event. `metered`: whether to report usage for this stream.
   * `sealed` is called once for each encrypted reasoning content.
   */
  constructor(
    onResponse: (response: JsonObject) => unknown = () => undefined,
    metered = true,
    sealed: (seals: readonly string[]) => void = () => {},
  ) {
    this.onResponse = onResponse;
    this.metered = metered;
    this.sealed = sealed;
  }

  get usage(): Usage | null {
    return this.found;
  }

  get fees(): VendorFees {
    return { ...(this.searches > 0 && { webSearches: this.searches }), ...this.uses.fees };
  }

  get served(): ServiceTier {
    return servingByOpenAi(this.tier);
  }

  get closed(): boolean {
    return this.closing.length > 0;
  }

  push(piece: Uint8Array): StreamPiece {
    return this.frames.push(piece);
  }

  /** Call when the provider has ended its stream. A failed response is not complete; its event is still sent. */
  end(): StreamEnding {
    const rest = this.frames.rest();
    if (isWholeEvent(rest) && this.keep(rest)) this.closing.push(rest);
    return {
      complete: this.finished && this.providerError === null,
      last: this.closing.length === 0 ? null : concat(this.closing),
      errorReported: this.providerError !== null,
    };
  }

  passes(): boolean {
    return this.closing.length === 0;
  }

  note(text: string): boolean {
    const length = lengthUnder("delta", text);
    this.outputLength += length;
    this.begun ||= length > 0;
    return length > 0;
  }

  keep(frame: Uint8Array): boolean {
    const closed = this.closing.length > 0;
    const data = frameData(decoder.decode(frame));
    let event: unknown = null;
    try {
      event = data === null ? null : JSON.parse(data);
    } catch {
      // Not valid JSON: passed unchanged.
    }
    if (isObject(event)) this.read(event);
    if (!closed && !this.finished && !(isObject(event) && event.type === "response.failed")) return true;
    this.closing.push(frame);
    return false;
  }

  private read(event: JsonObject): void {
    const type = filledOf(event.type) ?? "";
    const response = objectOf(event.response);
    if (response !== null) {
      this.onResponse(response);
      this.uses.readSettings(response);
      this.tier = response.service_tier ?? this.tier;
      if (this.metered) this.found = usageOfResponse(response) ?? this.found;
    }
    switch (type) {
      case "response.completed":
      case "response.incomplete":
        this.noteSeals(sealsIn(response?.output));
        this.finished = true;
        this.begun = true;
        return;
      case "response.failed":
        this.providerError = filledOf(objectOf(response?.error)?.message) ?? "the provider let the response fail";
        return;
      case "error":
        this.providerError = filledOf(event.message) ?? filledOf(objectOf(event.error)?.message) ?? "the provider reported an error";
        return;
      case "response.output_item.added":
        if (objectOf(event.item)?.type !== "message" && objectOf(event.item)?.type !== "reasoning") this.begun = true;
        return;
      default:
        if (type === "" && event.error !== undefined && event.error !== null)
          this.providerError = filledOf(objectOf(event.error)?.message) ?? textOfError(event.error);
        if (type.endsWith(".delta")) {
          const length = stringOf(event.delta)?.length ?? 0;
          this.outputLength += length;
          if (length > 0) this.begun = true;
        } else if (type.endsWith(".done")) this.begun = true;
        if (type === "response.output_item.done") {
          this.noteSeals(sealsIn([event.item ?? null]));
          const item = objectOf(event.item) ?? {};
          if (isWebSearch(item)) this.searches++;
          this.uses.item(item);
        }
    }
  }

  private noteSeals(seals: readonly string[]): void {
    const fresh = seals.filter((seal) => !this.seals.has(seal));
    for (const seal of fresh) this.seals.add(seal);
    if (fresh.length > 0) this.sealed(fresh);
  }
}

function textOfError(error: unknown): string {
  return filledOf(error) ?? "the provider reported an error";
}
