import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import type { FieldProblem } from "../json/document.ts";

/** A body that is wrong everywhere is not listed completely. */
const MAX_PROBLEMS = 20;

const absent = (value: unknown): value is null | undefined => value === null || value === undefined;

/**
 * Validates what governance reads in a Messages body; the rest is left to the provider. `counting`: a count_tokens body,
 * for which an output limit is not required.
 */
export function requestProblems(body: JsonObject, counting: boolean): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const field of ["model", "model_id"]) {
    const value = body[field];
    if (!absent(value) && (typeof value !== "string" || value === "" || value.length > 512))
      problems.push({ field, message: "must be a non-empty string" });
  }
  if (absent(body.model) && absent(body.model_id))
    problems.push({ field: "model", message: "is required: name a model with `model`, or with `model_id` its gateway id" });

  const ceiling = body.max_tokens;
  if (absent(ceiling)) {
    if (!counting) problems.push({ field: "max_tokens", message: "is required" });
  } else if (typeof ceiling !== "number" || !Number.isSafeInteger(ceiling) || ceiling < 0)
    problems.push({ field: "max_tokens", message: "must be a whole number" });
  if (!absent(body.stream) && typeof body.stream !== "boolean") problems.push({ field: "stream", message: "must be true or false" });
  if (!absent(body.temperature) && typeof body.temperature !== "number")
    problems.push({ field: "temperature", message: "must be a number" });
  if (!absent(body.system)) contentProblems(body.system, "system", problems);
  toolProblems(body.tools, problems);

  const { messages } = body;
  if (!Array.isArray(messages) || messages.length === 0) problems.push({ field: "messages", message: "must be a non-empty array" });
  else {
    for (let i = 0; i < messages.length && problems.length < MAX_PROBLEMS; i++) {
      const message = messages[i] as JsonValue;
      if (!isObject(message)) problems.push({ field: `messages[${i}]`, message: "must be an object" });
      else {
        if (typeof message.role !== "string") problems.push({ field: `messages[${i}].role`, message: "must be a string" });
        contentProblems(message.content, `messages[${i}].content`, problems);
      }
    }
  }
  return problems.slice(0, MAX_PROBLEMS);
}

function toolProblems(tools: JsonValue | undefined, problems: FieldProblem[]): void {
  if (absent(tools)) return;
  if (!Array.isArray(tools)) {
    problems.push({ field: "tools", message: "must be an array" });
    return;
  }
  for (const [i, tool] of tools.entries()) {
    if (!isObject(tool)) problems.push({ field: `tools[${i}]`, message: "must be an object" });
    else if (!absent(tool.name) && typeof tool.name !== "string") problems.push({ field: `tools[${i}].name`, message: "must be a string" });
  }
}

function contentProblems(content: JsonValue | undefined, path: string, problems: FieldProblem[]): void {
  if (typeof content === "string") return;
  if (!Array.isArray(content)) {
    problems.push({ field: path, message: "must be a string or an array of blocks" });
    return;
  }
  for (let i = 0; i < content.length && problems.length < MAX_PROBLEMS; i++) {
    const block = content[i] as JsonValue;
    if (!isObject(block)) problems.push({ field: `${path}[${i}]`, message: "must be an object" });
    else if (typeof block.type !== "string") problems.push({ field: `${path}[${i}].type`, message: "must be a string" });
    else if (block.type === "text" && typeof block.text !== "string")
      problems.push({ field: `${path}[${i}].text`, message: "must be a string" });
    else if (block.type === "tool_result" && !absent(block.content)) contentProblems(block.content, `${path}[${i}].content`, problems);
  }
}
