import { type Refusal, refuse } from "../../../kernel/errors.ts";
import type { ToolTarget } from "../../../road/target.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../kernel/json-value.ts";

export function refuseAnswerSize({ limits }: ToolTarget, text: string, result: JsonObject): Refusal | null {
  const { maxPayloadBytes, maxItems, maxRows } = limits;
  if (maxPayloadBytes !== null && Buffer.byteLength(text) > maxPayloadBytes)
    return refuse("tool_result_too_large", `The tool server's answer has more than ${maxPayloadBytes} bytes.`);
  // What a tool gave that ran as a task stands within the task.
  const results = isObject(result.result) ? [result, result.result] : [result];
  if (maxItems !== null && results.some((one) => itemsIn(one) > maxItems))
    return refuse("tool_result_too_large", `The tool server's answer has more than ${maxItems} items.`);
  if (maxRows !== null && results.some((one) => rowsIn(one) > maxRows))
    return refuse("tool_result_too_large", `The tool server's answer has more than ${maxRows} rows.`);
  return null;
}

function itemsIn(result: JsonObject): number {
  return most(["content", "contents", "messages"].map((name) => lengthOf(result[name])));
}

/** Rows as tools give them: a list, alone or as a member, structured or as JSON in a text, be it that of a resource. */
function rowsIn({ structuredContent, content, contents }: JsonObject): number {
  const items = [content, contents].flatMap((list) => (Array.isArray(list) ? list : [])).filter(isObject);
  const texts = items.map(({ text, resource }) => (isObject(resource) ? resource.text : text)).filter((text) => typeof text === "string");
  return most([structuredContent, ...texts.map(parsed)].map(longestList));
}

function longestList(value: JsonValue | undefined): number {
  if (Array.isArray(value)) return value.length;
  return isObject(value) ? most(Object.values(value).map(lengthOf)) : 0;
}

/** There may be more of them than a function takes arguments. */
function most(lengths: readonly number[]): number {
  return lengths.reduce((longest, length) => Math.max(longest, length), 0);
}

function lengthOf(value: JsonValue | undefined): number {
  return Array.isArray(value) ? value.length : 0;
}

function parsed(text: string): JsonValue | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
