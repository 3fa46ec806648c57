import { type Refusal, refuse } from "../../../kernel/errors.ts";
import type { ToolTarget } from "../../../road/target.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../kernel/json-value.ts";

export function refuseAnswerSize({ limits }: ToolTarget, text: string, result: JsonObject): Refusal | null {
  const { maxPayloadBytes, maxItems, maxRows } = limits;
  if (maxPayloadBytes !== null && Buffer.byteLength(text) > maxPayloadBytes)
    return refuse("tool_result_too_large", `The tool server's answer has more than ${maxPayloadBytes} bytes.`);
  // The result of a tool that ran as a task is nested in the task's result.
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

/**
 * The number of rows in a result: the longest list at the top level or one level below, in structured content or in JSON texts, including
 * those of resources.
 */
function rowsIn({ structuredContent, content, contents }: JsonObject): number {
  const items = [content, contents].flatMap((list) => (Array.isArray(list) ? list : [])).filter(isObject);
  const texts = items.map(({ text, resource }) => (isObject(resource) ? resource.text : text)).filter((text) => typeof text === "string");
  return most([structuredContent, ...texts.map(parsed)].map(longestList));
}

function longestList(value: JsonValue | undefined): number {
  if (Array.isArray(value)) return value.length;
  return isObject(value) ? most(Object.values(value).map(lengthOf)) : 0;
}

/** A loop, because spreading a large array into `Math.max` would exceed the argument limit. */
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
