import type { NamedHeaders, RequestHeaders } from "../../kernel/http/request-headers.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { argumentHeader, carriesArgument } from "./headers.ts";

/** A tool argument that the stateless dialect mirrors in the header `Mcp-Param-<header>`. */
export interface ParamHeader {
  /** Member names from the arguments object down to the value. */
  readonly path: readonly string[];
  readonly header: string;
}

const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const MIRRORED_TYPES = new Set(["string", "integer", "boolean"]);
const MAX_DEPTH = 16;

/** The mirrored arguments of a tool's input schema; null if its annotations are invalid, in which case the tool must not be offered. */
export function paramHeaders(schema: unknown): ParamHeader[] | null {
  const found: ParamHeader[] = [];
  const names = new Set<string>();
  const reachable = new Set<object>();
  const walk = (node: unknown, path: readonly string[]): boolean => {
    if (!isObject(node) || path.length > MAX_DEPTH) return true;
    const header = node["x-mcp-header"];
    reachable.add(node);
    if (header !== undefined) {
      if (
        typeof header !== "string" ||
        !TOKEN.test(header) ||
        names.has(header.toLowerCase()) ||
        !MIRRORED_TYPES.has(String(node.type)) ||
        path.length === 0
      )
        return false;
      names.add(header.toLowerCase());
      found.push({ path, header });
    }
    return !isObject(node.properties) || Object.entries(node.properties).every(([name, child]) => walk(child, [...path, name]));
  };
  return walk(schema, []) && !annotatedElsewhere(schema, reachable, 0) ? found : null;
}

/** Whether an annotation exists outside chains of `properties`. */
function annotatedElsewhere(node: unknown, reachable: ReadonlySet<object>, depth: number): boolean {
  if (typeof node !== "object" || node === null || depth > 64) return false;
  if (!Array.isArray(node) && "x-mcp-header" in node && !reachable.has(node) && typeof (node as JsonObject)["x-mcp-header"] === "string")
    return true;
  return Object.values(node).some((child) => annotatedElsewhere(child, reachable, depth + 1));
}

function valueAt(args: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let value = args;
  for (const name of path) {
    if (!isObject(value)) return undefined;
    value = value[name];
  }
  return value;
}

/** The request's headers that mirror arguments, for any tool. */
export function paramHeadersOf({ all }: RequestHeaders): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name in all) if (name.startsWith("mcp-param-")) headers[name] = all[name] as string;
  return headers;
}

export function writeParamHeaders(mirrored: readonly ParamHeader[], args: JsonValue | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { path, header } of mirrored) {
    const value = argumentHeader(valueAt(args, path));
    if (value !== null) headers[`mcp-param-${header.toLowerCase()}`] = value;
  }
  return headers;
}

/**
 * The first mirrored argument that differs from its header; null if none does. `sentArguments` returns the original
 * arguments and is called at most once.
 */
export function paramMismatch(
  mirrored: readonly ParamHeader[],
  sentArguments: () => JsonValue | undefined,
  headers: NamedHeaders,
): string | null {
  const mirroredSent = mirrored.filter(({ header }) => headers.get(`mcp-param-${header}`) !== null);
  if (mirroredSent.length === 0) return null;
  const args = sentArguments();
  for (const { path, header } of mirroredSent) {
    const value = valueAt(args, path);
    if (value == null || !carriesArgument(headers.get(`mcp-param-${header}`) ?? "", value))
      return `Mcp-Param-${header} is not what the body's argument ${path.join(".")} is.`;
  }
  return null;
}
