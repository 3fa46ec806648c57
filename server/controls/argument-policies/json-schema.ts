import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { type Analyzer, NOTHING_TO_PREPARE } from "./analyzer.ts";
import { reasonOf } from "../../kernel/errors.ts";

const LARGEST = 64 * 1024;
const DEEPEST = 32;

/** Compiles a JSON Schema (2020-12) that arguments must satisfy, or says why it cannot be used. */
export function schemaAnalyzer(schema: unknown): Analyzer | { readonly message: string } {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return { message: "must be a JSON Schema object" };
  if (depthOf(schema) > DEEPEST) return { message: `must not nest deeper than ${DEEPEST}` };
  if (JSON.stringify(schema).length > LARGEST) return { message: `must not be larger than ${LARGEST} characters` };
  const validate = compiled(schema);
  if (typeof validate === "string") return { message: validate };
  return {
    prepare: NOTHING_TO_PREPARE,
    inspect: (value) => ({ unparseable: null, holds: (denyIf) => denyIf === "invalid" && validate(value) !== true }),
  };
}

/** Depth of a value, counted no further than one past the limit. */
function depthOf(value: unknown, depth = 1): number {
  if (typeof value !== "object" || value === null || depth > DEEPEST) return depth;
  return Math.max(depth, ...Object.values(value).map((inner) => depthOf(inner, depth + 1)));
}

function compiled(schema: object): ValidateFunction | string {
  try {
    // One instance for each schema: `$id`s of two policies must not meet.
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false, logger: false, code: { regExp: safePattern } });
    return ajv.compile(schema);
  } catch (error) {
    return reasonOf(error);
  }
}

/**
 * Patterns run on text that a model wrote, in an engine that backtracks: one that repeats a group which itself repeats
 * or chooses, refers back or looks around could take for ever.
 */
function safePattern(pattern: string, flags: string): RegExp {
  if (/\\[1-9]|\\k<|\(\?[=!<]/.test(pattern))
    throw new Error(`the pattern ${JSON.stringify(pattern)} refers back, looks around or names a group`);
  const plain = pattern.replace(/\\./gs, "x").replace(/\[[^\]]*\]/g, "x");
  const open: boolean[] = [];
  for (let i = 0; i < plain.length; i++) {
    const c = plain[i] ?? "";
    if (c === "(") open.push(false);
    else if (c === ")") {
      const risky = open.pop() ?? false;
      if (risky && /[*+{]/.test(plain[i + 1] ?? ""))
        throw new Error(`the pattern ${JSON.stringify(pattern)} repeats a group that itself repeats or chooses`);
      if (risky && open.length > 0) open[open.length - 1] = true;
    } else if (/[*+{|?]/.test(c) && !(c === "?" && plain[i - 1] === "(") && open.length > 0) open[open.length - 1] = true;
  }
  return new RegExp(pattern, flags);
}
safePattern.code = "safePattern";
