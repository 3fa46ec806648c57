import { type Refusal, refuse } from "../../../kernel/errors.ts";
import { exactReading, isRawJson } from "../../../kernel/text/exact-numbers.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../kernel/json-value.ts";
import { exactAt } from "../argument-slots.ts";

/** A parsed request to run a script. */
export interface ScriptCall {
  readonly script: string;
  readonly args: readonly string[];
  readonly stdin: string;
  readonly inputFiles: readonly string[];
}

const MAX_ARGS = 256;
/** In bytes: within what a command line may have, and far more than anybody types. */
const MAX_ARGS_LENGTH = 100_000;
const MAX_INPUTS = 16;

/** Parses the arguments of skills__run_script; `written` is their JSON text. A refusal if they are invalid. */
export function scriptCallOf(given: JsonObject, written: string): ScriptCall | Refusal {
  const invalid = (words: string) => refuse("skill_arguments_invalid", words);
  const { script, args = [], input_files: inputs = [] } = given;
  if (typeof script !== "string") return invalid("script must be a text.");
  if (!Array.isArray(inputs) || inputs.length > MAX_INPUTS || !inputs.every((id) => typeof id === "string"))
    return invalid(`input_files must be a list of at most ${MAX_INPUTS} ids of files.`);
  const inputFiles = inputs as string[];
  const exact = exactAt(exactReading(written), "args");
  if (isObject(args)) return { script, args: [], stdin: JSON.stringify(exact ?? args), inputFiles };
  if (!Array.isArray(args)) return invalid("args must be a list or an object.");
  const words = args.map((value, at) => wordOf(value, exactAt(exact, at)));
  if (words.length > MAX_ARGS || words.some((word) => word === null || word.includes("\0")))
    return invalid(`args must be a list of at most ${MAX_ARGS} texts and numbers.`);
  if (Buffer.byteLength(words.join("")) > MAX_ARGS_LENGTH) return invalid("args are longer than a command line may be.");
  return { script, args: words as string[], stdin: "", inputFiles };
}

function wordOf(value: JsonValue, exact: unknown): string | null {
  if (isRawJson(exact)) return JSON.stringify(exact);
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : null;
}
