import { isObject, type JsonObject, type JsonValue } from "../kernel/json-value.ts";

/**
 * Tools run and billed by vendors in addition to tokens, by the vendors' names; web searches are counted separately. Google bills maps by the
 * query since Gemini 3, and before by the answer.
 */
export type VendorTool = "file_search" | "code_interpreter" | "image_generation" | "code_execution" | "google_maps" | "google_maps_query";

/** Uses of each tool. For code execution, the number of containers; one with more memory counts in proportion to its price. */
export type ToolUses = Readonly<Partial<Record<VendorTool, number>>>;

/** Uses that a vendor bills apart from tokens, which an answer itself shows. */
export interface VendorFees {
  /** Searches with the vendor's own web search. */
  readonly webSearches?: number;
  readonly toolUses?: ToolUses;
}

const BY_CALL: ReadonlySet<unknown> = new Set(["file_search", "image_generation"]);
const GIGABYTES = /^([1-9]\d{0,2})g$/;

/** The price of the requested container as a multiple of the smallest one's. */
function containersOf(tool: JsonObject): number {
  const memory =
    isObject(tool.container) && typeof tool.container.memory_limit === "string" ? GIGABYTES.exec(tool.container.memory_limit) : null;
  return Math.max(1, Number(memory?.[1] ?? 1));
}

const toolsIn = (tools: JsonValue | undefined): JsonObject[] => (Array.isArray(tools) ? tools : [tools]).filter((one) => isObject(one));

/** The maximum uses of each tool that a request allows; one use if unbounded. Works for requests of any format. */
export function offeredVendorTools(body: JsonObject): ToolUses {
  const most: Partial<Record<VendorTool, number>> = {};
  const bound = body.max_tool_calls;
  const calls = typeof bound === "number" && Number.isInteger(bound) && bound >= 0 ? bound : 1;
  for (const tool of toolsIn(body.tools)) {
    const { type } = tool;
    if (BY_CALL.has(type)) most[type as "file_search" | "image_generation"] = calls;
    if (type === "code_interpreter") most.code_interpreter = Math.max(most.code_interpreter ?? 0, containersOf(tool));
    if (typeof type === "string" && type.startsWith("code_execution")) most.code_execution = 1;
    if (isObject(tool.googleMaps) || isObject(tool.google_maps)) most.google_maps = 1;
  }
  return most;
}

/** Counts the uses of vendor tools from the items of a response. */
export class ResponseToolUses {
  private searched = 0;
  private drawn = 0;
  private memory = 1;
  private readonly containers = new Set<string>();

  /** Reads the tool settings that a complete or partial response object repeats from its request. */
  readSettings(response: JsonObject): void {
    for (const tool of toolsIn(response.tools))
      if (tool.type === "code_interpreter") this.memory = Math.max(this.memory, containersOf(tool));
  }

  item(item: JsonObject): void {
    if (item.type === "file_search_call") this.searched++;
    if (item.type === "code_interpreter_call") this.containers.add(typeof item.container_id === "string" ? item.container_id : "");
    if (item.type === "image_generation_call" && typeof item.result === "string" && item.result !== "") this.drawn++;
  }

  /** Empty if no tool was used. */
  get fees(): { readonly toolUses?: ToolUses } {
    const uses: Partial<Record<VendorTool, number>> = {
      ...(this.searched > 0 && { file_search: this.searched }),
      ...(this.drawn > 0 && { image_generation: this.drawn }),
      ...(this.containers.size > 0 && { code_interpreter: this.containers.size * this.memory }),
    };
    return Object.keys(uses).length === 0 ? {} : { toolUses: uses };
  }
}

/** Whether a content block starts code execution: Anthropic bills the container, except together with its web tools. */
function runsCode(block: JsonValue | undefined): boolean {
  return isObject(block) && block.type === "server_tool_use" && typeof block.name === "string" && block.name.endsWith("code_execution");
}

/** The container fee of a message, from its usage: none if the message used web tools. */
export function codeRun(usage: JsonValue | undefined, ran: boolean): { readonly toolUses?: ToolUses } {
  const tools = isObject(usage) && isObject(usage.server_tool_use) ? usage.server_tool_use : {};
  const isFree = Number(tools.web_search_requests ?? 0) + Number(tools.web_fetch_requests ?? 0) > 0;
  return ran && !isFree ? { toolUses: { code_execution: 1 } } : {};
}

/** The fees that the blocks of a message show, if its usage is not reported. */
export class BlockFees {
  private searches = 0;
  private fetches = 0;
  ranCode = false;

  block(block: JsonValue | undefined): void {
    if (!isObject(block) || block.type !== "server_tool_use") return;
    if (block.name === "web_search") this.searches++;
    if (block.name === "web_fetch") this.fetches++;
    this.ranCode ||= runsCode(block);
  }

  get fees(): VendorFees {
    const { searches, fetches } = this;
    const usage = { server_tool_use: { web_search_requests: searches, web_fetch_requests: fetches } };
    return { ...(searches > 0 && { webSearches: searches }), ...codeRun(usage, this.ranCode) };
  }
}

/** The sum of the uses in two answers. */
export function addedUses(one: ToolUses | undefined, other: ToolUses | undefined): { readonly toolUses?: ToolUses } {
  if (one === undefined || other === undefined) return one === undefined && other === undefined ? {} : { toolUses: { ...one, ...other } };
  const sum: Partial<Record<VendorTool, number>> = { ...one };
  for (const [tool, uses] of Object.entries(other) as [VendorTool, number][]) sum[tool] = (sum[tool] ?? 0) + uses;
  return { toolUses: sum };
}
