import { isObject, type JsonObject } from "../../kernel/json-value.ts";

/** MCP Apps: tools with a user interface, which is a page at a `ui://` URI. */
const EXTENSION = "io.modelcontextprotocol/ui";
export const APP_MIME_TYPE = "text/html;profile=mcp-app";
const SCHEME = "ui:";

/** The client capability for showing such pages. */
export const APPS_HOST: JsonObject = { extensions: { [EXTENSION]: { mimeTypes: [APP_MIME_TYPE] } } };

/** Whether a client with these capabilities shows the interfaces of tools. */
export function showsApps(capabilities: JsonObject): boolean {
  return isObject(capabilities.extensions) && capabilities.extensions[EXTENSION] !== undefined;
}

/** Whether the tool is visible to models. Tools visible only to apps are called from the pages that the client shows. */
export function isForModel(tool: JsonObject): boolean {
  const visibility = uiOf(tool)?.visibility;
  return !Array.isArray(visibility) || visibility.includes("model");
}

/** The URI of the tool's interface; null if it has none. */
export function interfaceOf(tool: JsonObject): string | null {
  const { _meta: meta } = tool;
  const uri = uiOf(tool)?.resourceUri ?? (isObject(meta) ? meta["ui/resourceUri"] : undefined);
  return typeof uri === "string" ? uri : null;
}

/** The canonical form of a `ui://` URI, because servers parse a URI before they look it up. Null for any other URI. */
export function interfaceAddress(uri: string): string | null {
  if (!URL.canParse(uri)) return null;
  const { href, protocol } = new URL(uri);
  return protocol === SCHEME ? href : null;
}

function uiOf({ _meta: meta }: JsonObject): JsonObject | null {
  return isObject(meta) && isObject(meta.ui) ? meta.ui : null;
}
