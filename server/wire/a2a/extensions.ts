import { isObject, type JsonValue } from "../../kernel/json-value.ts";
import type { AgentVersion } from "./agent-requests.ts";

/** The header that lists protocol extensions, for each version. */
export const EXTENSION_HEADERS: Readonly<Record<AgentVersion, string>> = { "1.0": "a2a-extensions", "0.3": "x-a2a-extensions" };

const URI = /^[\x21-\x2b\x2d-\x7e]{1,300}$/;
const MAX = 50;

/** The extension URIs from both versions' headers, without duplicates. */
export function extensionsIn(headers: Pick<Headers, "get">): readonly string[] {
  const named = Object.values(EXTENSION_HEADERS).flatMap((name) => headers.get(name)?.split(",") ?? []);
  return [...new Set(named.map((uri) => uri.trim()).filter((uri) => URI.test(uri)))].slice(0, MAX);
}

interface DeclaredExtension {
  readonly uri: string;
  readonly required: boolean;
}

/** The extensions that an agent card declares. */
export function declaredExtensions(capabilities: JsonValue | undefined): readonly DeclaredExtension[] {
  const declared = isObject(capabilities) && Array.isArray(capabilities.extensions) ? capabilities.extensions : [];
  return declared
    .filter(isObject)
    .flatMap(({ uri, required }) => (typeof uri === "string" && URI.test(uri) ? [{ uri, required: required === true }] : []))
    .slice(0, MAX);
}
