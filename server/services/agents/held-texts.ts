import type { Refusal } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import type { Gates } from "../../road/gates.ts";
import type { AgentEvent } from "../../wire/a2a/shapes.ts";
import { isObject, type JsonObject } from "../../wire/document.ts";
import { lookedAt } from "./looked-at.ts";

/** No value that guardrails look for is longer. */
const HELD = 128;

interface Pending {
  readonly taskId: unknown;
  readonly contextId: unknown;
  readonly artifactId: string;
  text: string;
}

/**
 * Looks at what an agent sends piece by piece. The text of an artifact that comes in pieces is looked at as the one text it
 * is: its end waits until it is known what follows, so that no value passes because it came in two.
 */
export class HeldTexts {
  private readonly call: Call;
  private readonly gates: Gates;
  private readonly pending = new Map<string, Pending>();

  constructor(call: Call, gates: Gates) {
    this.call = call;
    this.gates = gates;
  }

  /** The events that may go out now. */
  async take(event: AgentEvent): Promise<readonly AgentEvent[] | Refusal> {
    if (!this.gates.looksAt(this.call, "a2a_outbound")) return [event];
    const text = event.kind === "artifactUpdate" ? onlyText(event.value) : null;
    if (text === null) {
      // A status or a whole task ends what was under way.
      const before = event.kind === "artifactUpdate" ? [] : await this.rest();
      if ("code" in before) return before;
      const refusal = await lookedAt(this.call, this.gates, event);
      return refusal ?? [...before, event];
    }
    return this.piece(event, text);
  }

  /** What still waits, at the end. */
  async rest(): Promise<readonly AgentEvent[] | Refusal> {
    const events: AgentEvent[] = [];
    for (const held of this.pending.values()) {
      const text = await this.looked(held.text);
      if (typeof text !== "string") return text;
      if (text !== "") events.push(appended(held, text));
    }
    this.pending.clear();
    return events;
  }

  private async piece(event: AgentEvent, piece: TextPart): Promise<readonly AgentEvent[] | Refusal> {
    const { value } = event;
    const key = piece.artifactId;
    const held = value.append === true ? this.pending.get(key) : undefined;
    const whole = (held?.text ?? "") + String(piece.part.text);
    const rest = { ...value, artifact: { ...piece.artifact, parts: [] as JsonObject[] } };
    const beside = await lookedAt(this.call, this.gates, { kind: "artifactUpdate", value: rest });
    if (beside !== null) return beside;
    const clean = await this.looked(whole);
    if (typeof clean !== "string") return clean;
    if (value.lastChunk === true) {
      this.pending.delete(key);
      return [{ kind: "artifactUpdate", value: { ...rest, artifact: { ...rest.artifact, parts: [{ ...piece.part, text: clean }] } } }];
    }
    const cut = await this.cut(whole, clean);
    if (typeof cut !== "object" || "code" in cut) return cut;
    this.pending.set(key, { taskId: value.taskId, contextId: value.contextId, artifactId: key, text: cut.held });
    if (cut.out === "" && value.append === true) return [];
    return [{ kind: "artifactUpdate", value: { ...rest, artifact: { ...rest.artifact, parts: [{ ...piece.part, text: cut.out }] } } }];
  }

  /** Where the text can be cut so that nothing found in it lies on both sides. */
  private async cut(whole: string, clean: string): Promise<{ readonly out: string; readonly held: string } | Refusal> {
    if (whole === clean) return { out: whole.slice(0, -HELD), held: whole.slice(-HELD) };
    for (let keep = HELD; keep < whole.length; keep *= 2) {
      const [first, second] = [await this.looked(whole.slice(0, -keep)), await this.looked(whole.slice(-keep))];
      if (typeof first !== "string") return first;
      if (typeof second !== "string") return second;
      if (first + second === clean) return { out: first, held: whole.slice(-keep) };
    }
    return { out: "", held: whole };
  }

  private async looked(text: string): Promise<string | Refusal> {
    const slot = {
      role: "assistant" as const,
      kind: "text" as const,
      text,
      replace(changed: string) {
        slot.text = changed;
      },
    };
    return (await this.gates.inspect(this.call, "a2a_outbound", [slot])) ?? slot.text;
  }
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

function appended({ taskId, contextId, artifactId }: Pending, text: string): AgentEvent {
  return {
    kind: "artifactUpdate",
    value: { taskId: String(taskId), contextId: String(contextId), artifact: { artifactId, parts: [{ text }] }, append: true },
  };
}
