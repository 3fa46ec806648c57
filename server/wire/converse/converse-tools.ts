import type { ConversationRequest, Tool, ToolChoice } from "../conversation/request.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { forcesCall } from "../messages/thinking-limits.ts";
import { cachePoint } from "./converse-messages.ts";
import { modelFamily } from "./model-family.ts";
import type { RequestReport } from "./request-report.ts";

export interface WrittenTools {
  readonly toolConfig: JsonObject | null;
  /** Claude's own field for choices that `toolConfig` cannot express; null if not needed. */
  readonly claudeToolChoice: JsonObject | null;
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Writes the tools. Bedrock also requires them if the conversation merely contains earlier calls, has no choice "none",
 * and accepts a forced choice in one place only.
 */
export function writeConverseTools(
  request: ConversationRequest,
  model: string,
  called: ReadonlySet<string>,
  report: RequestReport,
): WrittenTools {
  const family = modelFamily(model);
  const choice = request.toolChoice;
  const offered = offeredTools(request.tools, choice);
  for (const name of new Set([...offered.map((tool) => tool.name), ...called])) {
    if (!NAME.test(name)) report.refuse("tools", `the tool name ${JSON.stringify(name)} must be letters, digits, _ and -, 64 at most`);
  }

  const none = choice?.kind === "none";
  if (offered.length === 0 && forcesCall(choice)) report.refuse("tool_choice", "names a tool that is not offered");
  if (offered.length === 0 || (none && called.size === 0)) {
    // Earlier calls require a declaration; this placeholder's description says not to call it.
    return {
      toolConfig: called.size === 0 ? null : { tools: [...called].map(placeholderTool) },
      claudeToolChoice: called.size > 0 && family === "claude" ? { type: "none" } : null,
    };
  }

  const tools = offered.flatMap((tool) => [toolSpec(tool), ...toolCache(tool, family, report)]);
  const forced = forcedChoice(choice);
  const alone = request.parallelToolCalls === false;
  if (family === "claude" && (none || alone)) {
    const type = none ? { type: "none" } : forced === null ? { type: "auto" } : forced.claude;
    return { toolConfig: { tools }, claudeToolChoice: none ? type : { ...type, disable_parallel_tool_use: true } };
  }
  if (none) report.drop("tool_choice");
  if (alone) report.drop("parallel_tool_calls");
  return { toolConfig: { tools, ...(forced === null ? {} : { toolChoice: forced.bedrock }) }, claudeToolChoice: null };
}

function offeredTools(tools: readonly Tool[], choice: ToolChoice | null): readonly Tool[] {
  if (choice?.kind !== "subset") return tools;
  return tools.filter(({ name }) => choice.names.includes(name));
}

/** Null if the model decides, which is Bedrock's default. */
function forcedChoice(choice: ToolChoice | null): { bedrock: JsonObject; claude: JsonObject } | null {
  if (!forcesCall(choice)) return null;
  return choice?.kind === "tool"
    ? { bedrock: { tool: { name: choice.name } }, claude: { type: "tool", name: choice.name } }
    : { bedrock: { any: {} }, claude: { type: "any" } };
}

function toolSpec({ name, description, schema, strict }: Tool): JsonObject {
  const json = (schema ?? { properties: {} }) as JsonObject;
  return {
    toolSpec: {
      name,
      ...(description === null || description.trim() === "" ? {} : { description }),
      inputSchema: { json: json.type === undefined ? { type: "object", ...json } : json },
      ...(strict === true ? { strict } : {}),
    },
  };
}

function toolCache({ cache }: Tool, family: string, report: RequestReport): JsonObject[] {
  if (cache === undefined) return [];
  if (family === "claude") return [cachePoint(cache)];
  report.drop("cache");
  return [];
}

function placeholderTool(name: string): JsonObject {
  return { toolSpec: { name, description: "No longer available: do not call it.", inputSchema: { json: { type: "object" } } } };
}
