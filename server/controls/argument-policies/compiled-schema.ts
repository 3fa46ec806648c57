import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { reasonOf } from "../../kernel/errors.ts";
import { schemaPattern } from "./schema-pattern.ts";
import { type SchemaSteps, STEP } from "./schema-steps.ts";

/** The compiled validator, or why the schema cannot be used. */
export function compiledSchema(schema: object, steps: SchemaSteps): ValidateFunction | string {
  const pattern = (source: string) => schemaPattern(source, steps);
  // The name for it in generated validator code.
  pattern.code = "schemaPattern";
  try {
    // One instance per schema, so that the `$id`s of two policies do not collide. Without inlining, a schema referenced
    // often is compiled once.
    const ajv = new Ajv2020({
      strict: true,
      allowUnionTypes: true,
      strictRequired: false,
      logger: false,
      inlineRefs: false,
      meta: false,
      validateSchema: false,
      keywords: [STEP],
      code: { regExp: pattern, optimize: false },
    });
    for (const keyword of steps.keywords()) {
      ajv.removeKeyword(keyword.keyword);
      ajv.addKeyword(keyword);
    }
    return ajv.compile(schema);
  } catch (error) {
    return reasonOf(error);
  }
}
