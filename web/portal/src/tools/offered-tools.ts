import type { PortalToolServer } from "../api/portal-records.ts";
import { isPlainObject, type PlainObject, mcpRequest } from "./mcp-request.ts";

/** A server's tool with the name a model calls it by. */
export interface OfferedTool {
  readonly name: string;
  readonly serverId: string;
  readonly serverName: string;
  /** The server's own name for it. */
  readonly tool: string;
  readonly description: string;
  readonly parameters: PlainObject;
  /** URI of its user interface; null if it has none. */
  readonly appUri: string | null;
  readonly forModel: boolean;
  readonly forApp: boolean;
}

/** Most pages read from a server's tool list, which might never end. */
const MAX_PAGES = 20;
const MAX_NAME_LENGTH = 64;

function toolOf(value: unknown): Omit<OfferedTool, "name" | "serverId" | "serverName"> | null {
  if (!isPlainObject(value) || typeof value.name !== "string" || value.name === "") return null;
  const meta = isPlainObject(value._meta) ? value._meta : {};
  const ui = isPlainObject(meta.ui) ? meta.ui : {};
  const uri = ui.resourceUri ?? meta["ui/resourceUri"];
  const seenBy = Array.isArray(ui.visibility) ? ui.visibility : ["model", "app"];
  return {
    tool: value.name,
    description: typeof value.description === "string" ? value.description : "",
    parameters: isPlainObject(value.inputSchema) ? value.inputSchema : { type: "object", properties: {} },
    appUri: typeof uri === "string" ? uri : null,
    forModel: seenBy.includes("model"),
    forApp: seenBy.includes("app"),
  };
}

export async function toolsOfServer(server: PortalToolServer, signal?: AbortSignal): Promise<readonly OfferedTool[]> {
  const found: OfferedTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const result = await mcpRequest({
      serverId: server.mcp_server.id,
      method: "tools/list",
      ...(cursor === undefined ? {} : { params: { cursor } }),
      ...(signal === undefined ? {} : { signal }),
    });
    for (const value of Array.isArray(result.tools) ? result.tools : []) {
      const tool = toolOf(value);
      if (tool === null) continue;
      found.push({ ...tool, name: tool.tool, serverId: server.mcp_server.id, serverName: server.display_name ?? server.name });
    }
    if (typeof result.nextCursor !== "string" || result.nextCursor === "") break;
    cursor = result.nextCursor;
  }
  return found;
}

const spelled = (text: string) => text.replaceAll(/[^\w-]+/g, "_");

/** Makes names unique across servers and valid for models: a tool's own name if no other has it, else prefixed with its server's. */
export function namedTools(tools: readonly OfferedTool[]): readonly OfferedTool[] {
  const taken = new Set<string>();
  return tools.map((tool) => {
    const own = spelled(tool.tool).slice(0, MAX_NAME_LENGTH);
    const isShared = tools.filter((other) => spelled(other.tool).slice(0, MAX_NAME_LENGTH) === own).length > 1;
    const wanted = isShared ? `${spelled(tool.serverName)}__${own}`.slice(0, MAX_NAME_LENGTH) : own;
    let name = wanted;
    for (let count = 2; taken.has(name); count++) name = `${wanted.slice(0, MAX_NAME_LENGTH - 4)}_${count}`;
    taken.add(name);
    return { ...tool, name };
  });
}
