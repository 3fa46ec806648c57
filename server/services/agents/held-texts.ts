import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import type { Gates } from "../../road/gates.ts";
import { type AgentEvent, INTERRUPTED_STATES, stateOf, TERMINAL_STATES } from "../../wire/a2a/shapes.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { inspectEvent, textSlotOf } from "./inspect-event.ts";

/** No value that guardrails look for is longer. */
const HELD = 128;
/** Where somebody judges what a text says: so much of what went out of an artifact is judged with what goes on with it. */
const HELD_OF_WHOLE = 32_000;
/** Characters that wait in all until the artifacts they belong to are whole. Judges and engines take no longer texts. */
const MOST_WAITING = 400_000;
/** Artifacts of one stream: of each it is known how it ended. */
const MOST_ARTIFACTS = 1_000;

interface Pending {
  readonly taskId: unknown;
  readonly contextId: unknown;
  readonly artifactId: string;
  text: string;
}

/**
 * Looks at what an agent sends piece by piece. The text of an artifact that comes in pieces is looked at as the one text it
 * is: its end waits until it is known what follows, so that no value passes because it came in two. Where something else
 * has ended the waiting, what follows all the same is looked at behind what went out. A text that is judged by what it says waits
 * until it is whole.
 */
export class HeldTexts {
  private readonly call: Call;
  private readonly gates: Gates;
  private readonly pending = new Map<string, Pending>();
  /** How what went out of each artifact ended, where nothing of it waits that is as long. */
  private readonly told = new Map<string, string>();

  constructor(call: Call, gates: Gates) {
    this.call = call;
    this.gates = gates;
  }

  /** The events that may go out now. */
  async take(event: AgentEvent): Promise<readonly AgentEvent[] | Refusal> {
    // Nobody may look any more while some of it still waits.
    if (!this.gates.looksAt(this.call, "a2a_outbound") && this.pending.size === 0) return [event];
    if (event.kind === "artifactUpdate") {
      if (this.told.size + this.pending.size > MOST_ARTIFACTS)
        return refuse("agent_invalid_response", undefined, { reason: `the agent tells of more than ${MOST_ARTIFACTS} artifacts` });
      const text = onlyText(event.value);
      return text === null ? this.several(event) : this.piece(event, text);
    }
    // A status or a whole task ends what was under way; agents tell that they work at it as often as they like.
    const before = this.judgesWhole() && isUnderWay(event) ? [] : await this.rest();
    if ("code" in before) return before;
    const refusal = await inspectEvent(this.call, this.gates, event);
    if (refusal !== null) return refusal;
    if (event.kind === "task" && Array.isArray(event.value.artifacts))
      for (const one of event.value.artifacts.filter(isObject)) this.tell(String(one.artifactId), saidByParts(one), false);
    return [...before, event];
  }

  /** What still waits, at the end. */
  async rest(): Promise<readonly AgentEvent[] | Refusal> {
    const events: AgentEvent[] = [];
    for (const [key, held] of this.pending) {
      const text = await this.looked(held.text, this.told.get(key));
      if (typeof text !== "string") return text;
      this.tell(key, text, true);
      if (text !== "") events.push(appended(held, text));
    }
    this.pending.clear();
    return events;
  }

  private tell(key: string, text: string, goesOn: boolean): void {
    const most = this.judgesWhole() ? HELD_OF_WHOLE : HELD;
    this.told.set(key, ((goesOn ? this.told.get(key) : undefined) ?? "").concat(text).slice(-most));
  }

  private judgesWhole(): boolean {
    return this.gates.judgesWhole(this.call, "a2a_outbound");
  }

  /** Whether the text may wait until its artifact is whole. */
  private hasRoomFor(key: string, text: string): boolean {
    let waiting = text.length;
    for (const [other, held] of this.pending) if (other !== key) waiting += held.text.length;
    return waiting <= MOST_WAITING;
  }

  /** What waits and went out of an artifact before; nothing where the artifact is said anew. */
  private before(key: string, { append }: JsonObject): { readonly held: string; readonly told: string } {
    if (append !== true) this.told.delete(key);
    return { held: (append === true ? this.pending.get(key)?.text : undefined) ?? "", told: this.told.get(key) ?? "" };
  }

  /** Parts of other kinds or several: what waits goes out before them, and is looked at with them. */
  private async several(event: AgentEvent): Promise<readonly AgentEvent[] | Refusal> {
    const artifact = event.value.artifact as JsonObject;
    const key = String(artifact.artifactId);
    const { held, told } = this.before(key, event.value);
    this.pending.delete(key);
    if (held !== "") artifact.parts = [{ text: held }, ...(artifact.parts as JsonValue[])];
    const refusal = await inspectEvent(this.call, this.gates, event, told);
    if (refusal !== null) return refusal;
    this.tell(key, saidByParts(artifact), true);
    return [event];
  }

  private async piece(event: AgentEvent, piece: TextPart): Promise<readonly AgentEvent[] | Refusal> {
    const { value } = event;
    const key = piece.artifactId;
    const { held, told } = this.before(key, value);
    const whole = held + String(piece.part.text);
    const waits = value.lastChunk !== true && this.judgesWhole() && this.hasRoomFor(key, whole);
    if (waits) this.pending.set(key, { taskId: value.taskId, contextId: value.contextId, artifactId: key, text: whole });
    if (waits && value.append === true) return [];
    const part: JsonObject = { ...piece.part, text: "" };
    const rest = { ...value, artifact: { ...piece.artifact, parts: [part] } };
    const beside = await inspectEvent(this.call, this.gates, { kind: "artifactUpdate", value: rest });
    if (beside !== null) return beside;
    const said = (text: string): AgentEvent => ({
      kind: "artifactUpdate",
      value: { ...rest, artifact: { ...rest.artifact, parts: [{ ...part, text }] } },
    });
    if (waits) return [said("")];
    const clean = await this.looked(whole, told);
    if (typeof clean !== "string") return clean;
    if (value.lastChunk === true) {
      this.pending.delete(key);
      this.tell(key, clean, true);
      return [said(clean)];
    }
    const cut = await this.cut(whole, clean, told);
    if (typeof cut !== "object" || "code" in cut) return cut;
    this.pending.set(key, { taskId: value.taskId, contextId: value.contextId, artifactId: key, text: cut.held });
    if (this.judgesWhole()) this.tell(key, cut.out, true);
    else if (cut.out !== "") this.told.delete(key);
    return cut.out === "" && value.append === true ? [] : [said(cut.out)];
  }

  /** Where the text can be cut so that nothing found in it lies on both sides. */
  private async cut(whole: string, clean: string, told: string): Promise<{ readonly out: string; readonly held: string } | Refusal> {
    if (whole === clean) {
      const at = lastFrom(whole, HELD);
      return { out: whole.slice(0, at), held: whole.slice(at) };
    }
    for (let keep = HELD; keep < whole.length; keep *= 2) {
      const at = lastFrom(whole, keep);
      const [first, second] = [await this.looked(whole.slice(0, at), told), await this.looked(whole.slice(at))];
      if (typeof first !== "string") return first;
      if (typeof second !== "string") return second;
      if (first + second === clean) return { out: first, held: whole.slice(at) };
    }
    return { out: "", held: whole };
  }

  private async looked(text: string, told = ""): Promise<string | Refusal> {
    const owner = {};
    const slot = textSlotOf(text, owner);
    const slots = told === "" ? [slot] : [textSlotOf(told, owner), slot];
    return (await this.gates.inspectPiece(this.call, "a2a_outbound", slots)) ?? slot.text;
  }
}

/** A status that neither ends the task nor leaves it to its caller. */
function isUnderWay({ kind, value }: AgentEvent): boolean {
  if (kind !== "statusUpdate") return false;
  const state = stateOf(value);
  return !TERMINAL_STATES.has(state) && !INTERRUPTED_STATES.has(state);
}

/** Where the last `keep` of a text begin, or a character that reaches into them. */
function lastFrom(text: string, keep: number): number {
  const at = Math.max(0, text.length - keep);
  return at > 0 && /[\ud800-\udbff]/.test(text.charAt(at - 1)) ? at - 1 : at;
}

interface TextPart {
  readonly artifactId: string;
  readonly artifact: JsonObject;
  readonly part: JsonObject;
}

/** The one text part that most streams send at a time; null where it is something else. */
function onlyText({ artifact }: JsonObject): TextPart | null {
  if (!isObject(artifact) || !Array.isArray(artifact.parts) || artifact.parts.length !== 1) return null;
  const [part] = artifact.parts;
  return isObject(part) && typeof part.text === "string" ? { artifactId: String(artifact.artifactId), artifact, part } : null;
}

/** The joined text of the text parts. */
export function saidByParts({ parts }: JsonObject): string {
  const texts = (Array.isArray(parts) ? parts : []).filter(isObject).map(({ text }) => text);
  return texts.filter((text) => typeof text === "string").join("");
}

function appended({ taskId, contextId, artifactId }: Pending, text: string): AgentEvent {
  return {
    kind: "artifactUpdate",
    value: { taskId: String(taskId), contextId: String(contextId), artifact: { artifactId, parts: [{ text }] }, append: true },
  };
}
