import type { Tool, ToolChoice } from "../../conversation/request.ts";
import type { JsonObject, JsonValue } from "../../../kernel/json-value.ts";

export function chatFunctionMembers({ name, description, schema, strict }: Tool): JsonObject {
  const members: JsonObject = { name };
  if (description !== null) members.description = description;
  if (schema !== null) members.parameters = schema as JsonObject;
  if (strict !== null) members.strict = strict;
  return members;
}

export function chatToolChoice(wanted: ToolChoice): JsonValue {
  switch (wanted.kind) {
    case "tool":
      return { type: "function", function: { name: wanted.name } };
    case "subset":
      return {
        type: "allowed_tools",
        allowed_tools: {
          mode: wanted.required ? "required" : "auto",
          tools: wanted.names.map((name) => ({ type: "function", function: { name } })),
        },
      };
    default:
      return wanted.kind;
  }
}
