import type { Tool, ToolChoice } from "../conversation/request.ts";
import { isObject, type JsonValue } from "../../kernel/json-value.ts";
import { isNothing, type MessagesReadReport } from "./losses.ts";
import { cacheOf } from "./read-blocks.ts";

const TOOL_MEMBERS: ReadonlySet<string> = new Set(["name", "description", "input_schema", "strict", "cache_control", "type"]);

export function readMessagesTools(tools: JsonValue | undefined, losses: MessagesReadReport): Tool[] {
  const read: Tool[] = [];
  if (!Array.isArray(tools)) return read;
  for (const [i, tool] of tools.entries()) {
    if (!isObject(tool)) continue;
    if (!isNothing(tool.type) && tool.type !== "custom") {
      losses.unsupported.push({
        field: `tools[${i}].type`,
        message: `the vendor's own tool ${JSON.stringify(tool.type)} does not exist for this model`,
      });
      continue;
    }
    for (const [name, value] of Object.entries(tool))
      if (!TOOL_MEMBERS.has(name) && !isNothing(value)) losses.dropped.add(`tools[${i}].${name}`);
    read.push({
      name: typeof tool.name === "string" ? tool.name : "",
      description: typeof tool.description === "string" ? tool.description : null,
      schema: isObject(tool.input_schema) ? tool.input_schema : null,
      strict: typeof tool.strict === "boolean" ? tool.strict : null,
      ...cacheOf(tool),
    });
  }
  return read;
}

export function readMessagesToolChoice(value: JsonValue | undefined): [ToolChoice | null, boolean | null] {
  if (!isObject(value)) return [null, null];
  const parallel = typeof value.disable_parallel_tool_use === "boolean" ? !value.disable_parallel_tool_use : null;
  if (value.type === "auto" || value.type === "none") return [{ kind: value.type }, parallel];
  if (value.type === "any") return [{ kind: "required" }, parallel];
  if (value.type === "tool" && typeof value.name === "string") return [{ kind: "tool", name: value.name }, parallel];
  return [null, parallel];
}
