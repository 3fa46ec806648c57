import type { FuncKeywordDefinition } from "ajv";
import { isObject } from "../../kernel/json-value.ts";

/** The keyword added to every subschema, with the cost of evaluating it. */
export const STEP = "x-gw-step";

/** Most steps for one value, each some hundredths of a microsecond. */
const MAX_STEPS = 300_000;
/** Characters of a string, or of compared values, that cost one step. */
const CHARACTERS = 8;

/** Checking the value takes too long, because of the schema, the value or both. */
export class TooManySteps extends Error {}

/** The cost of evaluating one schema. */
export interface StepCost {
  readonly steps: number;
  /** Whether it visits every member of an object. */
  readonly members: boolean;
}

/** Counts the steps of checking one value; throws `TooManySteps` when there are too many. */
export class SchemaSteps {
  #left = 0;

  begin(): void {
    this.#left = MAX_STEPS;
  }

  take(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new TooManySteps();
  }

  /** The keyword that counts, and replacements for keywords whose built-in comparison could take disproportionate time. */
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

/** Equal texts for values that JSON Schema considers equal. */
function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    isObject(member) ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1))) : member,
  );
}
