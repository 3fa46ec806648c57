import { isObject, type JsonObject, type JsonValue } from "../document.ts";

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

/** The page of an app, as its server gave it. */
export interface AppPage {
  readonly uri: string;
  readonly mimeType: string;
  /** Text, or base64 where the server sent a blob. */
  readonly content: string;
  readonly sizeBytes: number;
  /** What the page says of itself: its content security, its permissions. */
  readonly meta: JsonObject | null;
}

/** The app at `uri` in the result of `resources/read`; null when what is there is no app. */
export function appPage(result: JsonValue | undefined, uri: string): AppPage | null {
  const contents = isObject(result) && Array.isArray(result.contents) ? result.contents : [];
  const found = contents.find((content) => isObject(content) && content.uri === uri && mimeOf(content.mimeType) === APP_MIME_TYPE);
  if (!isObject(found)) return null;
  const { mimeType, text, blob, _meta: meta } = found;
  const content = typeof text === "string" ? text : typeof blob === "string" ? blob : null;
  if (content === null) return null;
  return {
    uri,
    mimeType: mimeType as string,
    content,
    sizeBytes: Buffer.byteLength(content, typeof text === "string" ? "utf8" : "base64"),
    meta: isObject(meta) ? meta : null,
  };
}

function mimeOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value.toLowerCase().replaceAll(/\s/g, "") : "";
}

function uiOf({ _meta: meta }: JsonObject): JsonObject | null {
  return isObject(meta) && isObject(meta.ui) ? meta.ui : null;
}
