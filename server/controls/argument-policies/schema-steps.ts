import type { FuncKeywordDefinition } from "ajv";
import { isObject } from "../../kernel/json-value.ts";

/** Name of the keyword that every schema within a schema is given, with what asking it costs. */
export const STEP = "x-gw-step";

/** Steps that one value may take, each some hundredths of a microsecond. */
const MOST_STEPS = 300_000;
/** Characters of a string, or of values that are compared, that cost a step. */
const CHARACTERS = 8;

/** The value takes too long to be checked, because of the schema, of itself or of both. */
export class TooManySteps extends Error {}

/** The cost of evaluating one schema. */
export interface StepCost {
  readonly steps: number;
  /** Whether every member of an object is gone through. */
  readonly members: boolean;
}

/** Counts what checking one value takes, and stops where it is too much. */
export class SchemaSteps {
  #left = 0;

  begin(): void {
    this.#left = MOST_STEPS;
  }

  take(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooManySteps();
  }

  /** Keywords that count, and those whose own way of comparing takes time out of proportion. */
  keywords(): (FuncKeywordDefinition & { readonly keyword: string })[] {
    const canonical = (value: unknown) => this.#canonical(value);
    return [
      {
        keyword: STEP,
        schemaType: "object",
        errors: false,
        validate: ({ steps, members }: StepCost, value: unknown) => {
          let cost = steps;
          if (typeof value === "string") cost += Math.ceil(value.length / CHARACTERS);
          else if (members && typeof value === "object" && value !== null) cost += Object.keys(value).length;
          this.take(cost);
          return true;
        },
      },
      {
        keyword: "enum",
        schemaType: "array",
        compile(allowed: readonly unknown[]) {
          const texts = new Set(allowed.map(canonicalText));
          return (value: unknown) => texts.has(canonical(value));
        },
      },
      {
        keyword: "const",
        compile(wanted: unknown) {
          const text = canonicalText(wanted);
          return (value: unknown) => canonical(value) === text;
        },
      },
      {
        keyword: "uniqueItems",
        type: "array",
        schemaType: "boolean",
        validate: (unique: boolean, items: readonly unknown[]) =>
          !unique || items.length < 2 || new Set(items.map(canonical)).size === items.length,
      },
    ];
  }

  #canonical(value: unknown): string {
    const text = canonicalText(value);
    this.take(Math.ceil(text.length / CHARACTERS));
    return text;
  }
}

/** The same text for values that JSON Schema takes for equal. */
function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    isObject(member) ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1))) : member,
  );
}
