import type { TextSlot } from "../inbound.ts";

/** Where one text stands: `holder[key]` is the string, inside the body's top-level `member`. */
export type TextVisitor = (role: TextSlot["role"], kind: TextSlot["kind"], holder: Record<string | number, unknown>, key: string | number, member: string) => void;

/** Deeper than any vendor nests what a model reads. */
const MAX_DEPTH = 16;

/** Members that hold texts, or further places of texts, in the order a model reads them. */
const TEXT_MEMBERS = ["text", "refusal", "thinking", "summary", "content", "code", "input", "output", "outputs", "results", "logs", "stdout", "stderr", "operation", "diff", "error", "action", "command", "commands", "queries", "query"] as const;

/**
 * Visits every text below `holder[key]`: the string itself, those of a list, and those an object holds under the names
 * vendors give to texts. `arguments` of a tool call are told apart, because what replaces them must be JSON again.
 */
export function visitTexts(role: TextSlot["role"], holder: object, key: string | number, member: string, visit: TextVisitor, depth = 0): void {
  const places = holder as Record<string | number, unknown>;
  const value = places[key];
  if (typeof value === "string") {
    if (value !== "") visit(role, "text", places, key, member);
    return;
  }
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) visitTexts(role, value, i, member, visit, depth + 1);
    return;
  }
  visitMembers(role, value, member, visit, depth + 1);
}

/** Visits the texts an object holds. */
export function visitMembers(role: TextSlot["role"], object: object, member: string, visit: TextVisitor, depth = 0): void {
  const places = object as Record<string, unknown>;
  for (const name of TEXT_MEMBERS) if (places[name] !== undefined) visitTexts(role, places, name, member, visit, depth);
  visitArguments(places, member, visit);
}

/** The arguments of a tool call, where `holder` has them as JSON text. */
export function visitArguments(holder: Record<string, unknown>, member: string, visit: TextVisitor): void {
  if (typeof holder.arguments === "string" && holder.arguments !== "") visit("assistant", "arguments", holder, "arguments", member);
}

/** Adds up what the controls and estimates need of the texts, without making a slot for each. */
export class TextMeasure {
  private readonly parts: string[] = [];
  characters = 0;

  readonly visit: TextVisitor = (role, kind, holder, key) => {
    const text = holder[key] as string;
    this.characters += text.length;
    if (role === "system" && kind === "text") this.parts.push(text);
  };

  /** All instruction texts, joined with line feeds; null when there are none. */
  get instructions(): string | null {
    return this.parts.length === 0 ? null : this.parts.join("\n");
  }
}

/** A text in its place. Replacing it changes the parsed body and tells `changed` which member to write anew. */
export class PlacedText implements TextSlot {
  readonly role: TextSlot["role"];
  readonly kind: TextSlot["kind"];
  private readonly holder: Record<string | number, unknown>;
  private readonly key: string | number;
  private readonly changed: () => void;

  constructor(role: TextSlot["role"], kind: TextSlot["kind"], holder: Record<string | number, unknown>, key: string | number, changed: () => void) {
    this.role = role;
    this.kind = kind;
    this.holder = holder;
    this.key = key;
    this.changed = changed;
  }

  get text(): string {
    return this.holder[this.key] as string;
  }

  replace(text: string): void {
    this.holder[this.key] = text;
    this.changed();
  }
}
