import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { META } from "./dialect.ts";
import { edited, memberText } from "./rpc.ts";

/**
 * Translates messages between the two dialects. Members in which the dialects do not differ keep their exact spelling,
 * numbers included.
 */

const CACHEABLE = new Set([
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
]);
/** Removes the members of `_meta` that a dialect itself defines. */
const WITHOUT_OWN = Object.fromEntries(Object.values(META).map((name) => [name, null]));

/** The `_meta` of params or of a result, with `own` in place of the members defined by a dialect; null if it would be empty. */
function metaOf(object: string, own: JsonObject = {}): string | null {
  const text = memberText(object, "_meta");
  const encoded = Object.fromEntries(Object.entries(own).map(([name, value]) => [name, JSON.stringify(value)]));
  const meta = edited(text !== null && isObject(JSON.parse(text)) ? text : "{}", { ...WITHOUT_OWN, ...encoded });
  return Object.keys(JSON.parse(meta) as JsonObject).length === 0 ? null : meta;
}

/** `params` of a stateless request, translated for a handshake server. */
export function handshakeParams(params: string | null): string | null {
  if (params === null) return null;
  return edited(params, { _meta: metaOf(params), inputResponses: null, requestState: null, task: null });
}

const TASKS = "io.modelcontextprotocol/tasks";

/** The client capabilities that the gateway can support on the caller's behalf; tasks are not forwarded. */
export function carriedClientCapabilities(capabilities: JsonObject): JsonObject {
  const { tasks: _tasks, extensions, ...rest } = capabilities;
  return isObject(extensions) ? { ...rest, extensions: withoutTasks(extensions) } : rest;
}

export function withoutTasks(extensions: JsonObject): JsonObject {
  const { [TASKS]: _tasks, ...rest } = extensions;
  return rest;
}

/** The tool without `execution`, which describes tasks in the handshake dialect only. */
export function withoutExecution(tool: JsonObject): JsonObject {
  if (tool.execution === undefined) return tool;
  const { execution: _execution, ...rest } = tool;
  return rest;
}

export interface McpSender {
  readonly version: string;
  readonly capabilities: JsonObject;
  readonly clientInfo: JsonObject | null;
  readonly logLevel: string | null;
  /** Identifies the sender's session with the gateway; null if it has none. */
  readonly session: string | null;
}

/** `params` of a handshake request, translated for a stateless server. */
export function statelessParams(params: string | null, sender: Omit<McpSender, "session">): string {
  const given = params ?? "{}";
  const own: JsonObject = {
    [META.version]: sender.version,
    [META.capabilities]: sender.capabilities,
    ...(sender.clientInfo === null ? {} : { [META.clientInfo]: sender.clientInfo }),
    ...(sender.logLevel === null ? {} : { [META.logLevel]: sender.logLevel }),
  };
  return edited(given, { _meta: metaOf(given, own), task: null });
}

/** A handshake server's result, translated for a stateless client; marked as cacheable for this caller only. */
export function statelessResult(method: string, result: string, serverInfo: JsonObject | null): string {
  const meta = metaOf(result, serverInfo === null ? {} : { [META.serverInfo]: serverInfo });
  return edited(result, {
    resultType: '"complete"',
    ...(CACHEABLE.has(method) ? { ttlMs: "0", cacheScope: '"private"' } : {}),
    ...(meta === null ? {} : { _meta: meta }),
  });
}

/** A stateless server's result, translated for a handshake client. */
export function handshakeResult(result: string): string {
  return edited(result, { resultType: null, ttlMs: null, cacheScope: null, _meta: metaOf(result) });
}

/** Maps the error code for an unknown resource, in which the dialects differ. */
export function bridgedErrorCode(code: JsonValue | undefined, method: string, to: "handshake" | "stateless"): JsonValue {
  if (to === "stateless" && code === -32002) return -32602;
  if (to === "handshake" && code === -32602 && method === "resources/read") return -32002;
  return code ?? -32603;
}
