import type { JsonObject } from "../../kernel/json-value.ts";
import { asksNothing, type FieldProblem } from "../json/document.ts";

/** Collects what a request reader could not translate. */
export class ReadReport {
  readonly unsupported: FieldProblem[] = [];
  private readonly droppedNames = new Set<string>();

  refuse(field: string, message: string): void {
    this.unsupported.push({ field, message });
  }

  drop(field: string): void {
    this.droppedNames.add(field);
  }

  /** Drops members that are not read and have an effect; `prefix` is the path of the object. */
  dropOthers(object: JsonObject, known: ReadonlySet<string>, prefix: string): void {
    for (const [name, value] of Object.entries(object)) if (!known.has(name) && !asksNothing(value)) this.drop(`${prefix}${name}`);
  }

  get dropped(): string[] {
    return [...this.droppedNames];
  }
}

/** The message for content that the target format does not have. */
export const NOT_ELSEWHERE = "has no equal in the format of this model's provider";
