import type { JsonObject } from "../../kernel/json-value.ts";
import { asksNothing, type FieldProblem } from "../json/document.ts";
import { camelName } from "./member-names.ts";

/** Collects what a request reader could not translate, by the caller's names. */
export class GeminiReadReport {
  readonly unsupported: FieldProblem[] = [];
  private readonly lost = new Set<string>();

  get dropped(): readonly string[] {
    return [...this.lost];
  }

  /** For fields without an equivalent that can be lost without harm. */
  drop(field: string): void {
    this.lost.add(field);
  }

  refuse(field: string, message: string): void {
    this.unsupported.push({ field, message });
  }

  /** Reports every member of an object that is not one of `known` (in camelCase). */
  dropOthers(object: JsonObject, known: ReadonlySet<string>, at: string): void {
    for (const [key, value] of Object.entries(object)) {
      if (!asksNothing(value) && !known.has(camelName(key))) this.drop(`${at}${key}`);
    }
  }
}
