import { Ajv2020 } from "ajv/dist/2020.js";
import { isObject } from "../../kernel/json-value.ts";
import { type Analyzer, unreadable } from "./analyzer.ts";
import { type FieldError, reasonOf } from "../../kernel/errors.ts";
import { compiledSchema } from "./compiled-schema.ts";
import { SchemaSteps, TooManySteps } from "./schema-steps.ts";
import { measuredSchema } from "./schema-size.ts";

const TOO_MUCH = "The arguments take more work to check than a call may cost.";

/** Compiles a JSON Schema (2020-12) that arguments must satisfy, or returns what is wrong with it. */
export function schemaAnalyzer(schema: unknown): Analyzer | { readonly fields: readonly FieldError[] } {
  if (!isObject(schema)) return unusable("must be a JSON Schema object");
  const { measured, fields } = measuredSchema(schema);
  if (fields.length > 0) return { fields };
  const steps = new SchemaSteps();
  const validate = wrong(schema) ?? compiledSchema(measured, steps);
  if (typeof validate === "string") return unusable(validate);
  const check = (value: unknown) => {
    steps.begin();
    return validate(value) === true;
  };
  return {
    // The JavaScript engine parses the validator on its first call.
    prepare: async () => void check(null),
    inspect(value) {
      try {
        const valid = check(value);
        return { unparseable: null, holds: (denyIf) => denyIf === "invalid" && !valid };
      } catch (error) {
        if (error instanceof TooManySteps) return unreadable(TOO_MUCH);
        throw error;
      }
    },
  };
}

/** The meta-schema validator, compiled once on first use. */
let rules: Ajv2020 | undefined;

/** Why this is not a valid schema; null if it is. */
function wrong(schema: object): string | null {
  try {
    rules ??= new Ajv2020({ logger: false });
    void rules.validateSchema(schema, true);
    return null;
  } catch (error) {
    return reasonOf(error);
  }
}

const unusable = (message: string) => ({ fields: [{ field: "schema", message }] });
