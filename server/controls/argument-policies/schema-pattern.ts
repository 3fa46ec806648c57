import { RE2JS, RE2JSException } from "re2js";
import type { SchemaSteps } from "./schema-steps.ts";

/** Larger programs would let one match against a long text block the process. */
const MAX_INSTRUCTIONS = 1_200;
/** Instructions times characters that take about as long as one step. */
const STEP_WORK = 64;

/** Minimum cost of a match, in steps. */
const MIN_STEPS = 8;

interface Compiled {
  readonly pattern: RE2JS;
  readonly size: number;
}

function compile(source: string): Compiled {
  const pattern = RE2JS.compile(RE2JS.translateRegExp(source));
  return { pattern, size: pattern.programSize() };
}

/**
 * Why a pattern of a schema cannot be used; null if it can. Patterns run in RE2, in linear time, which does not
 * support all of JavaScript's syntax.
 */
export function patternProblem(source: string): string | null {
  try {
    const { size } = compile(source);
    return size <= MAX_INSTRUCTIONS
      ? null
      : `is too large a pattern: its counted repetitions make ${size} instructions, ${MAX_INSTRUCTIONS} are allowed`;
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return `is no pattern of RE2, which has no look-around and no back-references: ${error.message.replace("error parsing regexp: ", "")}`;
  }
}

/** A pattern for the validator: an unanchored search in linear time, which is charged as steps. */
export function schemaPattern(source: string, steps: SchemaSteps): RegExp {
  const { pattern, size } = compile(source);
  return {
    test(text: string) {
      steps.take(MIN_STEPS + Math.ceil((text.length * size) / STEP_WORK));
      return pattern.test(text);
    },
    toString: () => source,
  } as unknown as RegExp;
}
