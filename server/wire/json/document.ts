import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { exactlyWritten, exactWriter } from "../../kernel/text/exact-numbers.ts";
import { duplicateMember, editMembers, type Member, jsonMembersOf } from "./json-members.ts";
import { ambiguityOf, nameProblem, TOO_DEEP } from "./ambiguous-name.ts";
import { deepPlace, memberPlace, REQUEST_LEVELS } from "./nesting.ts";
import { repeatedName } from "./repeated-name.ts";

/** Whether a member asks for nothing, so that nothing is lost without it: null, an empty list, an object without members. */
export function asksNothing(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return typeof value === "object" && (Array.isArray(value) ? value : Object.keys(value)).length === 0;
}

/** Why a body cannot be taken; `field` is empty when it is the body as a whole. */
export interface FieldProblem {
  readonly field: string;
  readonly message: string;
  /** A name that readers may take for another, which is refused under a code of its own. */
  readonly ambiguous?: true;
}

const decoder = new TextDecoder("utf-8", { fatal: true });
/** A whole number of so many digits that it may be another than was read. */
const MAYBE_ROUNDED = /[[:,]-?\d{16}/;

/**
 * A JSON object with its source text. What was not touched keeps its exact spelling: whoever changes something inside a
 * top-level member says so with `touch`, and only touched members are written anew.
 */
export class JsonDocument {
  /** Parsed; may be changed in place when the member changed is then touched. */
  readonly value: JsonObject;
  private readonly source: string;
  private readonly members: readonly Member[];
  private readonly touched = new Set<string>();
  private readonly spelled = new Map<string, string>();
  private readonly writers = new Map<string, (value: unknown) => string>();
  private repeated: string | null | undefined;

  private constructor(source: string, value: JsonObject, members: readonly Member[]) {
    this.source = source;
    this.value = value;
    this.members = members;
  }

  /** `levels`: in how many of them objects and arrays may stand within each other. */
  static read(bytes: Uint8Array, levels = REQUEST_LEVELS): JsonDocument | FieldProblem {
    let source: string;
    try {
      source = decoder.decode(bytes);
    } catch {
      return { field: "", message: "is not UTF-8" };
    }
    let value: unknown;
    try {
      value = JSON.parse(source);
    } catch {
      return { field: "", message: "is not JSON" };
    }
    if (!isObject(value)) return { field: "", message: "must be a JSON object" };
    const members = jsonMembersOf(source);
    const twice = duplicateMember(members);
    if (twice !== null) return { field: twice, message: "stands more than once" };
    const unclear = nameProblem(value, levels);
    if (unclear === TOO_DEEP)
      return { field: deepPlace(value, levels), message: `is nested too deep: a request may have ${levels} levels` };
    if (unclear !== null)
      return { field: memberPlace(value, unclear.within, unclear.name), message: ambiguityOf(unclear), ambiguous: true };
    return new JsonDocument(source, value as JsonObject, members);
  }

  has(name: string): boolean {
    return this.value[name] !== undefined;
  }

  /** A name that stands twice in one object, at any depth, of the text as it came: which of the two counts is the reader's guess. */
  get repeatedName(): string | null {
    // Each control asks, and the text is read from its beginning to its end for it.
    if (this.repeated === undefined) this.repeated = repeatedName(this.source, this.value);
    return this.repeated;
  }

  /** Says that the value of a member was changed in place: it is written anew, its numbers with the digits they came with. */
  touch(name: string): void {
    this.touched.add(name);
    this.spelled.delete(name);
  }

  /** As `touch`, with the JSON text of the member as it stands now: what did not change inside it keeps its spelling too. */
  respell(name: string, text: string): void {
    this.touched.add(name);
    this.spelled.set(name, text);
  }

  /** `undefined` takes the member out. */
  set(name: string, value: JsonValue | undefined): void {
    if (value === undefined) delete this.value[name];
    else this.value[name] = value;
    this.touch(name);
  }

  /** Takes a member out and gives it; undefined when it is not there. */
  takeOut(name: string): JsonValue | undefined {
    const value = this.value[name];
    if (value !== undefined) this.set(name, undefined);
    return value;
  }

  /** The JSON text of one member as it stands now; null when it is not there. */
  memberText(name: string): string | null {
    const value = this.value[name];
    if (value === undefined) return null;
    const spelled = this.spelled.get(name);
    if (spelled !== undefined) return spelled;
    const touched = this.touched.has(name);
    const member = this.members.find((candidate) => candidate.name === name);
    if (member === undefined) return JSON.stringify(value);
    const source = this.source.slice(member.valueStart, member.valueEnd);
    return touched ? exactlyWritten(value, source) : source;
  }

  /** JSON of what consists of parts of a member, their numbers with the digits they came with. */
  written(name: string, value: JsonObject | readonly JsonValue[]): string {
    const text = JSON.stringify(value);
    const member = MAYBE_ROUNDED.test(text) ? this.members.find((candidate) => candidate.name === name) : undefined;
    if (member === undefined) return text;
    let writer = this.writers.get(name);
    if (writer === undefined)
      this.writers.set(name, (writer = exactWriter(this.value[name], this.source.slice(member.valueStart, member.valueEnd))));
    return writer(value);
  }

  /**
   * The text as it stands now, with further members said differently for this one writing: JSON text to put in, or null
   * to take out. The document itself is not changed by them, so that each attempt at a provider can differ.
   */
  text(edits: ReadonlyMap<string, string | null> = NONE): string {
    if (this.touched.size === 0 && edits.size === 0) return this.source;
    const all = new Map<string, string | null>();
    for (const name of this.touched) {
      all.set(name, this.memberText(name));
    }
    for (const [name, value] of edits) all.set(name, value);
    return editMembers(this.source, this.members, all);
  }
}

const NONE: ReadonlyMap<string, string | null> = new Map();
