import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { META } from "./dialect.ts";
import { edited, memberText } from "./rpc.ts";

/**
 * What a message of one dialect is in the other. Members neither dialect speaks of keep their spelling, numbers
 * included; only what the dialects differ in is written anew.
 */

const CACHEABLE = new Set([
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
]);
/** The names a dialect has for itself in `_meta`, each taken out. */
const WITHOUT_OWN = Object.fromEntries(Object.values(META).map((name) => [name, null]));

/** The `_meta` of params or a result with `own` in the place of what a dialect says of itself there; null when nothing is left. */
function metaOf(object: string, own: JsonObject = {}): string | null {
  const text = memberText(object, "_meta");
  const said = Object.fromEntries(Object.entries(own).map(([name, value]) => [name, JSON.stringify(value)]));
  const meta = edited(text !== null && isObject(JSON.parse(text)) ? text : "{}", { ...WITHOUT_OWN, ...said });
  return Object.keys(JSON.parse(meta) as JsonObject).length === 0 ? null : meta;
}

/** `params` of a stateless request for a server that has had its handshake. */
export function handshakeParams(params: string | null): string | null {
  if (params === null) return null;
  return edited(params, { _meta: metaOf(params), inputResponses: null, requestState: null, task: null });
}

const TASKS = "io.modelcontextprotocol/tasks";

/** What a caller can do that is also true of the gateway on its behalf: tasks are not carried on. */
export function carriedClientCapabilities(capabilities: JsonObject): JsonObject {
  const { tasks: _tasks, extensions, ...rest } = capabilities;
  return isObject(extensions) ? { ...rest, extensions: withoutTasks(extensions) } : rest;
}

export function withoutTasks(extensions: JsonObject): JsonObject {
  const { [TASKS]: _tasks, ...rest } = extensions;
  return rest;
}

/** A tool without what only the handshake dialect says of running it as a task. */
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
  /** A name of the session it has with the gateway; null of a sender without one. */
  readonly session: string | null;
}

/** `params` of a handshake request for a stateless server. */
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

/** A result of a handshake server for a stateless client: never cacheable beyond the caller. */
export function statelessResult(method: string, result: string, serverInfo: JsonObject | null): string {
  const meta = metaOf(result, serverInfo === null ? {} : { [META.serverInfo]: serverInfo });
  return edited(result, {
    resultType: '"complete"',
    ...(CACHEABLE.has(method) ? { ttlMs: "0", cacheScope: '"private"' } : {}),
    ...(meta === null ? {} : { _meta: meta }),
  });
}

/** A result of a stateless server for a client that has had its handshake. */
export function handshakeResult(result: string): string {
  return edited(result, { resultType: null, ttlMs: null, cacheScope: null, _meta: metaOf(result) });
}

/** The dialects have different codes for a resource that is not there. */
export function bridgedErrorCode(code: JsonValue | undefined, method: string, to: "handshake" | "stateless"): JsonValue {
  if (to === "stateless" && code === -32002) return -32602;
  if (to === "handshake" && code === -32602 && method === "resources/read") return -32002;
  return code ?? -32603;
}
