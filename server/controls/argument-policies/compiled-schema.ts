import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { reasonOf } from "../../kernel/errors.ts";
import { schemaPattern } from "./schema-pattern.ts";
import { type SchemaSteps, STEP } from "./schema-steps.ts";

/** A text says why the schema cannot be used. */
export function compiledSchema(schema: object, steps: SchemaSteps): ValidateFunction | string {
  const pattern = (source: string) => schemaPattern(source, steps);
  // What validators that are written out would name it.
  pattern.code = "schemaPattern";
  try {
    // One instance for each schema: `$id`s of two policies must not meet. A schema that is named often is compiled once.
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
