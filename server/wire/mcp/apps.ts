import { isObject, type JsonObject } from "../../kernel/json-value.ts";

/** MCP Apps: tools that bring an interface of their own, as a page at a `ui://` address. */
const EXTENSION = "io.modelcontextprotocol/ui";
export const APP_MIME_TYPE = "text/html;profile=mcp-app";
const SCHEME = "ui:";

/** What a client says that shows such pages. */
export const APPS_HOST: JsonObject = { extensions: { [EXTENSION]: { mimeTypes: [APP_MIME_TYPE] } } };

/** Whether a client with these capabilities shows the interfaces of tools. */
export function showsApps(capabilities: JsonObject): boolean {
  return isObject(capabilities.extensions) && capabilities.extensions[EXTENSION] !== undefined;
}

/** Whether a model may see the tool. One for apps alone is for the pages that their hosts show. */
export function isForModel(tool: JsonObject): boolean {
  const visibility = uiOf(tool)?.visibility;
  return !Array.isArray(visibility) || visibility.includes("model");
}

/** The address of the tool's interface; null when it has none. */
export function interfaceOf(tool: JsonObject): string | null {
  const { _meta: meta } = tool;
  const uri = uiOf(tool)?.resourceUri ?? (isObject(meta) ? meta["ui/resourceUri"] : undefined);
  return typeof uri === "string" ? uri : null;
}

/**
 * The address of an interface in the one spelling all others of it are read as: servers take addresses apart before they
 * look for them. Null for any other address.
 */
export function interfaceAddress(uri: string): string | null {
  if (!URL.canParse(uri)) return null;
  const { href, protocol } = new URL(uri);
  return protocol === SCHEME ? href : null;
}

function uiOf({ _meta: meta }: JsonObject): JsonObject | null {
  return isObject(meta) && isObject(meta.ui) ? meta.ui : null;
}
