import { isObject, type JsonObject, type JsonValue } from "../../../kernel/json-value.ts";
import { edited, memberText } from "../../../wire/mcp/rpc.ts";
import { writtenItems } from "../../../wire/mcp/written-items.ts";
import type { Call } from "../../../road/call.ts";
import type { ToolTarget } from "../../../road/target.ts";
import { filteredList } from "./listed-tools.ts";
import { offeredDefinitions } from "./offered-definitions.ts";
import type { ToolParts } from "../tool-parts.ts";

/** The tools of a `tools/list` result that the caller may use, as guardrails leave them; null if unchanged. */
export async function offeredTools(
  call: Call,
  target: ToolTarget,
  result: JsonObject,
  asClient: boolean,
  client: JsonObject | null,
  parts: ToolParts,
): Promise<JsonValue[] | null> {
  const kept = filteredList(parts.memory, target, result, asClient, client);
  const tools = kept ?? result.tools;
  return (Array.isArray(tools) ? await offeredDefinitions(call, tools, parts) : null) ?? kept;
}

/** The text of a `tools/list` answer for the caller: without withheld tools, and never publicly cacheable. Null if it is unchanged. */
export async function offeredToolsText(
  call: Call,
  target: ToolTarget,
  message: { readonly text: string; readonly value: JsonObject },
  client: JsonObject | null,
  parts: ToolParts,
): Promise<string | null> {
  const { result } = message.value;
  if (!isObject(result)) return null;
  const offered = await offeredTools(call, target, result, false, client, parts);
  if (offered === null && result.cacheScope !== "public") return null;
  const text = memberText(message.text, "result") ?? "{}";
  return edited(message.text, {
    result: edited(text, {
      ...(offered === null ? {} : { tools: `[${writtenItems(text, result, "tools", offered).join(",")}]` }),
      ...(result.cacheScope === "public" ? { cacheScope: '"private"' } : {}),
    }),
  });
}
