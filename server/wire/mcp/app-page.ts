import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { APP_MIME_TYPE } from "./apps.ts";

/** The HTML page of an app, as its server returned it. */
export interface AppPage {
  readonly uri: string;
  readonly mimeType: string;
  /** Text, or base64 if the server sent a blob. */
  readonly content: string;
  readonly sizeBytes: number;
  /** The page's metadata: content security policy and permissions. */
  readonly meta: JsonObject | null;
}

/** The app at `uri` in a `resources/read` result; null if there is none. */
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
