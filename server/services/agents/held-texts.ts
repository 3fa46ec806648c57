import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import type { Gates } from "../../road/gates.ts";
import { type AgentEvent, INTERRUPTED_STATES, stateOf, TERMINAL_STATES } from "../../wire/a2a/shapes.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { inspectEvent, textSlotOf } from "./inspect-event.ts";

/** In characters. Guardrails look for no longer values. */
const HELD = 128;
/** With guardrails that judge meaning: characters of an artifact already sent that are judged again with what follows. */
const HELD_OF_WHOLE = 32_000;
/** In characters: text that may wait in total for its artifacts to be complete. Judges and engines accept no longer texts. */
const MAX_WAITING = 400_000;
/** Artifacts per stream, because the end of each is remembered. */
const MAX_ARTIFACTS = 1_000;

interface Pending {
  readonly taskId: unknown;
  readonly contextId: unknown;
  readonly artifactId: string;
  text: string;
}

/**
 * Inspects what an agent streams. The pieces of an artifact are inspected as one text: its end is held back until the next piece arrives,
 * so that no value escapes by being split. If something else ended the wait, later pieces are inspected together with the text already
 * sent. Text that is judged by meaning is held until it is complete.
 */
export class HeldTexts {
  private readonly call: Call;
  private readonly gates: Gates;
  private readonly pending = new Map<string, Pending>();
  /** The end of the text sent of each artifact; absent while held text at least as long takes its place. */
  private readonly sentTexts = new Map<string, string>();

  constructor(call: Call, gates: Gates) {
    this.call = call;
    this.gates = gates;
  }

  /** Returns the events that may be sent now. */
  async take(event: AgentEvent): Promise<readonly AgentEvent[] | Refusal> {
    // Text may still be held from when inspection was active.
    if (!this.gates.inspects(this.call, "a2a_outbound") && this.pending.size === 0) return [event];
    if (event.kind === "artifactUpdate") {
      if (this.sentTexts.size + this.pending.size > MAX_ARTIFACTS)
        return refuse("agent_invalid_response", undefined, { reason: `the agent tells of more than ${MAX_ARTIFACTS} artifacts` });
      const text = onlyText(event.value);
      return text === null ? this.several(event) : this.piece(event, text);
    }
    // A status or a whole task ends the pieces before it, but agents may report that they are working at any time.
    const before = this.judgesWhole() && isUnderWay(event) ? [] : await this.rest();
    if ("code" in before) return before;
    const refusal = await inspectEvent(this.call, this.gates, event);
    if (refusal !== null) return refusal;
    if (event.kind === "task" && Array.isArray(event.value.artifacts))
      for (const one of event.value.artifacts.filter(isObject)) this.emit(String(one.artifactId), textOfParts(one), false);
    return [...before, event];
  }

  /** Returns what is still held, at the end of the stream. */
  async rest(): Promise<readonly AgentEvent[] | Refusal> {
    const events: AgentEvent[] = [];
    for (const [key, held] of this.pending) {
      const text = await this.inspected(held.text, this.sentTexts.get(key));
      if (typeof text !== "string") return text;
      this.emit(key, text, true);
      if (text !== "") events.push(appended(held, text));
    }
    this.pending.clear();
    return events;
  }

  private emit(key: string, text: string, continues: boolean): void {
    const most = this.judgesWhole() ? HELD_OF_WHOLE : HELD;
    this.sentTexts.set(key, ((continues ? this.sentTexts.get(key) : undefined) ?? "").concat(text).slice(-most));
  }

  private judgesWhole(): boolean {
    return this.gates.judgesWhole(this.call, "a2a_outbound");
  }

  /** Whether the text may be held until its artifact is complete. */
  private hasRoomFor(key: string, text: string): boolean {
    let waiting = text.length;
    for (const [other, held] of this.pending) if (other !== key) waiting += held.text.length;
    return waiting <= MAX_WAITING;
  }

  /** The held text and the text sent of an artifact; both empty if the artifact is replaced. */
  private before(key: string, { append }: JsonObject): { readonly held: string; readonly sentBefore: string } {
    if (append !== true) this.sentTexts.delete(key);
    return { held: (append === true ? this.pending.get(key)?.text : undefined) ?? "", sentBefore: this.sentTexts.get(key) ?? "" };
  }

  /** Handles several parts or parts of other kinds: the held text is sent before them and inspected with them. */
  private async several(event: AgentEvent): Promise<readonly AgentEvent[] | Refusal> {
    const artifact = event.value.artifact as JsonObject;
    const key = String(artifact.artifactId);
    const { held, sentBefore } = this.before(key, event.value);
    this.pending.delete(key);
    if (held !== "") artifact.parts = [{ text: held }, ...(artifact.parts as JsonValue[])];
    const refusal = await inspectEvent(this.call, this.gates, event, sentBefore);
    if (refusal !== null) return refusal;
    this.emit(key, textOfParts(artifact), true);
    return [event];
  }

  private async piece(event: AgentEvent, piece: TextPart): Promise<readonly AgentEvent[] | Refusal> {
    const { value } = event;
    const key = piece.artifactId;
    const { held, sentBefore } = this.before(key, value);
    const whole = held + String(piece.part.text);
    const waits = value.lastChunk !== true && this.judgesWhole() && this.hasRoomFor(key, whole);
    if (waits) this.pending.set(key, { taskId: value.taskId, contextId: value.contextId, artifactId: key, text: whole });
    if (waits && value.append === true) return [];
    const part: JsonObject = { ...piece.part, text: "" };
    const rest = { ...value, artifact: { ...piece.artifact, parts: [part] } };
    const beside = await inspectEvent(this.call, this.gates, { kind: "artifactUpdate", value: rest });
    if (beside !== null) return beside;
    const textEvent = (text: string): AgentEvent => ({
      kind: "artifactUpdate",
      value: { ...rest, artifact: { ...rest.artifact, parts: [{ ...part, text }] } },
    });
    if (waits) return [textEvent("")];
    const clean = await this.inspected(whole, sentBefore);
    if (typeof clean !== "string") return clean;
    if (value.lastChunk === true) {
      this.pending.delete(key);
      this.emit(key, clean, true);
      return [textEvent(clean)];
    }
    const cut = await this.cut(whole, clean, sentBefore);
    if (typeof cut !== "object" || "code" in cut) return cut;
    this.pending.set(key, { taskId: value.taskId, contextId: value.contextId, artifactId: key, text: cut.held });
    if (this.judgesWhole()) this.emit(key, cut.out, true);
    else if (cut.out !== "") this.sentTexts.delete(key);
    return cut.out === "" && value.append === true ? [] : [textEvent(cut.out)];
  }

  /** Finds a place to cut the text such that no finding spans both sides. */
  private async cut(whole: string, clean: string, sentBefore: string): Promise<{ readonly out: string; readonly held: string } | Refusal> {
    if (whole === clean) {
      const at = lastFrom(whole, HELD);
      return { out: whole.slice(0, at), held: whole.slice(at) };
    }
    for (let keep = HELD; keep < whole.length; keep *= 2) {
      const at = lastFrom(whole, keep);
      const [first, second] = [await this.inspected(whole.slice(0, at), sentBefore), await this.inspected(whole.slice(at))];
      if (typeof first !== "string") return first;
      if (typeof second !== "string") return second;
      if (first + second === clean) return { out: first, held: whole.slice(at) };
    }
    return { out: "", held: whole };
  }

  private async inspected(text: string, sentBefore = ""): Promise<string | Refusal> {
    const owner = {};
    const slot = textSlotOf(text, owner);
    const slots = sentBefore === "" ? [slot] : [textSlotOf(sentBefore, owner), slot];
    return (await this.gates.inspectPiece(this.call, "a2a_outbound", slots)) ?? slot.text;
  }
}

/** A status that neither ends the task nor waits for the caller. */
function isUnderWay({ kind, value }: AgentEvent): boolean {
  if (kind !== "statusUpdate") return false;
  const state = stateOf(value);
  return !TERMINAL_STATES.has(state) && !INTERRUPTED_STATES.has(state);
}

/** Start of the last `keep` characters, moved back if it would split a surrogate pair. */
function lastFrom(text: string, keep: number): number {
  const at = Math.max(0, text.length - keep);
  return at > 0 && /[\ud800-\udbff]/.test(text.charAt(at - 1)) ? at - 1 : at;
}

interface TextPart {
  readonly artifactId: string;
  readonly artifact: JsonObject;
  readonly part: JsonObject;
}

/** The single text part that most streams send at a time; null for anything else. */
function onlyText({ artifact }: JsonObject): TextPart | null {
  if (!isObject(artifact) || !Array.isArray(artifact.parts) || artifact.parts.length !== 1) return null;
  const [part] = artifact.parts;
  return isObject(part) && typeof part.text === "string" ? { artifactId: String(artifact.artifactId), artifact, part } : null;
}

/** The text of all text parts, joined. */
export function textOfParts({ parts }: JsonObject): string {
  const texts = (Array.isArray(parts) ? parts : []).filter(isObject).map(({ text }) => text);
  return texts.filter((text) => typeof text === "string").join("");
}

function appended({ taskId, contextId, artifactId }: Pending, text: string): AgentEvent {
  return {
    kind: "artifactUpdate",
    value: { taskId: String(taskId), contextId: String(contextId), artifact: { artifactId, parts: [{ text }] }, append: true },
  };
}
