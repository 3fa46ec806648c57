import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import type { TextSlot } from "../inbound.ts";
import { REQUEST_LEVELS } from "../json/nesting.ts";
import { hasWords, NO_TEXT_NAMES, visitOther } from "../texts/other-texts.ts";

/** Called with the location of a text: `holder[key]` is the string or arguments object, within the top-level `member`. */
export type TextVisitor = (
  role: TextSlot["role"],
  kind: "text" | "arguments",
  holder: Record<string | number, unknown>,
  key: string | number,
  member: string,
) => void;

/** `other`: a text that the format does not know, within an object that it does. */
export type RequestVisitor = (
  role: TextSlot["role"],
  kind: "text" | "arguments" | "other",
  holder: Record<string | number, unknown>,
  key: string | number,
  member: string,
) => void;

/** The maximum nesting of a request. */
const MAX_DEPTH = REQUEST_LEVELS;

/** Members that contain texts, directly or nested, in the order in which a model reads them. */
const TEXT_MEMBERS = [
  "text",
  "refusal",
  "thinking",
  "summary",
  "content",
  "code",
  "input",
  "output",
  "outputs",
  "results",
  "logs",
  "stdout",
  "stderr",
  "operation",
  "diff",
  "error",
  "message",
  "reason",
  "action",
  "command",
  "commands",
  "queries",
  "query",
  "transcript",
  "result",
  "revised_prompt",
] as const;
const TEXT_NAMES: ReadonlySet<string> = new Set(TEXT_MEMBERS);
/** The same for requests, plus members of chat messages, followed by those with tool calls. */
const IN_REQUESTS = [
  ...["reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"],
  ...TEXT_MEMBERS,
  ...["tool_calls", "function_call", "function", "custom"],
];
const NO_TEXT = -1;
/** The position of each in that order; negative for members that are not text. */
const PLACES: ReadonlyMap<string, number> = new Map([
  ...[...NO_TEXT_NAMES, "arguments"].map((name) => [name, NO_TEXT] as const),
  ...IN_REQUESTS.map((name, at) => [name, at] as const),
]);
const FIRST_CALLS = IN_REQUESTS.indexOf("tool_calls");
/** Its result is image bytes. */
const IMAGE = "image_generation_call";

/**
 * Visits every text below `holder[key]`: strings, lists of them, and members that vendors use for text. A tool call's
 * `arguments` are distinguished, because their replacement must be valid JSON.
 */
export function visitTexts(
  role: TextSlot["role"],
  holder: object,
  key: string | number,
  member: string,
  visit: TextVisitor,
  depth = 0,
): void {
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

/** Whether members of this name contain text. */
export function holdsText(name: string): boolean {
  return TEXT_NAMES.has(name);
}

/** Visits the texts of an object. */
export function visitMembers(role: TextSlot["role"], object: object, member: string, visit: TextVisitor, depth = 0): void {
  const places = object as Record<string, unknown>;
  for (const name of TEXT_MEMBERS)
    if (places[name] !== undefined && !(name === "result" && places.type === IMAGE)) visitTexts(role, places, name, member, visit, depth);
  visitArguments(places, member, visit);
}

/**
 * Visits every text below `holder[key]` in a request: in objects of the format, all strings except in members that are not
 * text. Unknown ones are distinguished, so that nothing can be hidden between the parts of a message.
 */
export function visitRequestTexts(
  role: TextSlot["role"],
  holder: object,
  key: string | number,
  member: string,
  visit: RequestVisitor,
): void {
  const places = holder as Record<string | number, unknown>;
  const value = places[key];
  if (typeof value === "string") {
    if (value !== "") visit(role, "text", places, key, member);
  } else if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) visitRequestTexts(role, value, i, member, visit);
  } else if (typeof value === "object" && value !== null) visitRequestMembers(role, value, member, visit);
}

/** The same for the members of one object; `except` names those that are inspected separately. */
export function visitRequestMembers(
  role: TextSlot["role"],
  object: object,
  member: string,
  visit: RequestVisitor,
  except?: ReadonlySet<string>,
): void {
  const places = object as Record<string, unknown>;
  // Most objects have a single text, so an array is allocated only for more.
  let first: string | null = null;
  let more: string[] | null = null;
  for (const name in places) {
    const value = places[name];
    if (value === null || typeof value === "number" || typeof value === "boolean") continue;
    const place = PLACES.get(name);
    if ((place === NO_TEXT && typeof value === "string" && !hasWords(value)) || except?.has(name) === true) continue;
    if (place !== undefined && place >= 0 && !isData(name, value)) {
      if (first === null) first = name;
      else (more ??= [first]).push(name);
    } else if (name !== "arguments") visitOther(places, name, name, (holder, key) => visit(role, "other", holder, key, member));
  }
  if (more !== null)
    for (const name of more.sort((one, other) => orderOf(one) - orderOf(other))) visitKnown(role, places, name, member, visit);
  else if (first !== null) visitKnown(role, places, first, member, visit);
  visitArguments(places, member, visit);
}

function visitKnown(role: TextSlot["role"], places: Record<string, unknown>, name: string, member: string, visit: RequestVisitor): void {
  if (name === "result" && places.type === IMAGE) return;
  visitRequestTexts(orderOf(name) < FIRST_CALLS ? role : "assistant", places, name, member, visit);
}

const orderOf = (name: string): number => PLACES.get(name) ?? 0;

/** A tool's input object has free-form names. */
function isData(name: string, value: unknown): boolean {
  return name === "input" && isObject(value);
}

/** A tool call's arguments: JSON text, or an object, which some servers accept as well. */
export function visitArguments(holder: Record<string, unknown>, member: string, visit: TextVisitor): void {
  const { arguments: given } = holder;
  if (given !== "" && (typeof given === "string" || (typeof given === "object" && given !== null)))
    visit("assistant", "arguments", holder, "arguments", member);
}

/** Visits every string below `holder[key]` under any name, for objects that servers show to the model as a whole. */
export function visitEvery(
  role: TextSlot["role"],
  holder: object,
  key: string | number,
  member: string,
  visit: TextVisitor,
  depth = 0,
): void {
  const places = holder as Record<string | number, unknown>;
  const value = places[key];
  if (typeof value === "string" && value !== "") visit(role, "text", places, key, member);
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return;
  for (const name of Object.keys(value)) visitEvery(role, value, name, member, visit, depth + 1);
}

export function textAt(holder: Record<string | number, unknown>, key: string | number): string {
  const value = holder[key];
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The document that contains the texts: `written` serializes an object within a member with all digits. */
interface TextSource {
  changed(member: string): void;
  written(member: string, value: JsonObject): string;
}

/** A text in its place. Replacing it changes the parsed body and marks the member as changed in its source. */
export class PlacedText implements TextSlot {
  readonly role: TextSlot["role"];
  readonly kind: TextSlot["kind"];
  private readonly holder: Record<string | number, unknown>;
  private readonly key: string | number;
  private readonly member: string;
  private readonly source: TextSource;
  readonly owner?: object;

  constructor(
    role: TextSlot["role"],
    kind: TextSlot["kind"],
    holder: Record<string | number, unknown>,
    key: string | number,
    member: string,
    source: TextSource,
    owner: object | null,
  ) {
    if (owner !== null) this.owner = owner;
    this.role = role;
    this.kind = kind;
    this.holder = holder;
    this.key = key;
    this.member = member;
    this.source = source;
  }

  get text(): string {
    const value = this.holder[this.key];
    return typeof value === "string" ? value : this.source.written(this.member, value as JsonObject);
  }

  replace(text: string): void {
    const isParsed = typeof this.holder[this.key] === "object";
    this.holder[this.key] = isParsed ? JSON.parse(text) : text;
    this.source.changed(this.member);
  }
}
