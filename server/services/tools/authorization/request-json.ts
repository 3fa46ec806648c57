import { reasonOf, type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import type { ToolServerSend } from "../../../upstreams/tool-servers/send.ts";
import { ambiguousName } from "../../../wire/json/ambiguous-name.ts";
import { isObject, type JsonObject } from "../../../kernel/json-value.ts";
import { repeatedName } from "../../../wire/json/repeated-name.ts";
import { readUpTo } from "../../../wire/http/read-up-to.ts";

export interface JsonResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Null if the body is not a JSON object. */
  readonly body: JsonObject | null;
  /** The unchanged body, if it is one. */
  readonly text: string;
}

export interface JsonRequest {
  readonly url: string;
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly maxBytes?: number;
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 256 * 1024;

/** Sends a request to an authorization server. The answer is limited in size and time; redirects are not followed. */
export async function requestJson(
  send: ToolServerSend,
  { url, method = "GET", headers = {}, body, maxBytes = MAX_BYTES }: JsonRequest,
): Promise<JsonResponse | Refusal> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort("upstream_timeout"), TIMEOUT_MS);
  try {
    const response = await send({
      url,
      method,
      headers: { accept: "application/json", ...headers },
      abort,
      timeoutMs: TIMEOUT_MS,
      ...(body === undefined ? {} : { body }),
    });
    if (isRefusal(response))
      return refuse(response.code, "The authorization server of the tool server could not be asked.", {
        reason: `${new URL(url).origin}: ${response.message} ${response.reason ?? ""}`.trim(),
      });
    const bytes = await readUpTo(response.body, maxBytes);
    const text = bytes === null ? "" : new TextDecoder().decode(bytes);
    const object = parsed(text);
    return { status: response.status, headers: response.headers, body: object, text: object === null ? "" : text };
  } catch (error) {
    return refuse("upstream_interrupted", "The authorization server of the tool server broke off its answer.", { reason: reasonOf(error) });
  } finally {
    clearTimeout(timer);
  }
}

function parsed(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    // Clients receive this text, so it must not be read differently by different parsers.
    return isObject(value) && !isUnclear(value) && repeatedName(text, value) === null ? value : null;
  } catch {
    return null;
  }
}

/**
 * Whether member names are ambiguous. Names that resemble the protocol's are rejected at the top level only; below it, issuers may choose
 * any names that do not resemble each other.
 */
function isUnclear(value: JsonObject): boolean {
  const names = Object.fromEntries(Object.keys(value).map((name) => [name, null]));
  return ambiguousName(names) !== null || ambiguousName({ data: Object.values(value) }) !== null;
}

/** Whether a URL supplied by another party may be contacted or shown to a browser. */
export function mayUseUrl(allowPrivate: boolean): (url: string) => boolean {
  return (url) => {
    if (!URL.canParse(url)) return false;
    const { protocol, username, password, hash } = new URL(url);
    return (protocol === "https:" || (protocol === "http:" && allowPrivate)) && username === "" && password === "" && hash === "";
  };
}
