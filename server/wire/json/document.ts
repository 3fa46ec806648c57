import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { exactlyWritten, exactWriter } from "../../kernel/text/exact-numbers.ts";
import { duplicateMember, editMembers, type Member, jsonMembersOf } from "./json-members.ts";
import { ambiguityOf, nameProblem, TOO_DEEP } from "./ambiguous-name.ts";
import { deepPlace, memberPlace, REQUEST_LEVELS } from "./nesting.ts";
import { repeatedName } from "./repeated-name.ts";

/** Whether a member has no effect and can be dropped without loss: null, an empty array or an empty object. */
export function asksNothing(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return typeof value === "object" && (Array.isArray(value) ? value : Object.keys(value)).length === 0;
}

/** Why a body is invalid; `field` is empty if the problem is the body as a whole. */
export interface FieldProblem {
  readonly field: string;
  readonly message: string;
  /** Set if the problem is an ambiguous name, which has its own error code. */
  readonly ambiguous?: true;
}

const decoder = new TextDecoder("utf-8", { fatal: true });
/** An integer with so many digits that parsing may have rounded it. */
const MAYBE_ROUNDED = /[[:,]-?\d{16}/;

/**
 * A JSON object with its source text. Untouched members keep their exact spelling: code that changes something inside a
 * top-level member must call `touch`, and only touched members are serialized again.
 */
export class JsonDocument {
  /** The parsed object. May be changed in place if the changed member is then touched. */
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

  /** `levels` is the maximum nesting of objects and arrays. */
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

  /** The first duplicate name within one object of the source text, at any depth: parsers differ in which value counts. */
  get repeatedName(): string | null {
    // Cached: every control asks for it, and finding it scans the whole text.
    if (this.repeated === undefined) this.repeated = repeatedName(this.source, this.value);
    return this.repeated;
  }

  /** Marks a member as changed in place: it is serialized again, its numbers with their original digits. */
  touch(name: string): void {
    this.touched.add(name);
    this.spelled.delete(name);
  }

  /** Like `touch`, with the member's new JSON text, in which unchanged parts keep their spelling. */
  respell(name: string, text: string): void {
    this.touched.add(name);
    this.spelled.set(name, text);
  }

  /** `undefined` removes the member. */
  set(name: string, value: JsonValue | undefined): void {
    if (value === undefined) delete this.value[name];
    else this.value[name] = value;
    this.touch(name);
  }

  /** Removes a member and returns it; undefined if absent. */
  takeOut(name: string): JsonValue | undefined {
    const value = this.value[name];
    if (value !== undefined) this.set(name, undefined);
    return value;
  }

  /** The current JSON text of one member; null if absent. */
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

  /** Serializes a value made of parts of a member, its numbers with their original digits. */
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
   * The current text, with `edits` applied to this result only: JSON text to insert, or null to remove a member. The
   * document itself stays unchanged, so that each attempt at a provider can differ.
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
