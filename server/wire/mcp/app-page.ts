import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { APP_MIME_TYPE } from "./apps.ts";

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
