import type { NamedHeaders } from "../../kernel/http/request-headers.ts";
import type { JsonValue } from "../../kernel/json-value.ts";
import { type Capability, mirrorsName } from "./capability.ts";
import { fromHeaderValue, headerValue } from "./header-values.ts";

/** Describes the first mirrored header that differs from the body; null if none does. Absent headers are not compared. */
export function headerMismatch(
  headers: NamedHeaders,
  method: string,
  capability: Capability | null,
  version: string | null,
): string | null {
  const methodHeader = headers.get("mcp-method");
  if (methodHeader !== null && methodHeader !== method)
    return `Mcp-Method is ${JSON.stringify(methodHeader)} and the body's method ${JSON.stringify(method)}.`;
  const name = headers.get("mcp-name");
  if (name !== null) {
    if (capability === null || !mirrorsName(method)) return version === null ? null : "Mcp-Name is given, and the body names nothing.";
    if (fromHeaderValue(name) !== capability.name) return "Mcp-Name is not what the body names.";
  }
  const spoken = headers.get("mcp-protocol-version");
  if (version !== null && spoken !== null && spoken !== version)
    return `MCP-Protocol-Version is ${JSON.stringify(spoken)} and the body's ${JSON.stringify(version)}.`;
  return null;
}

/** The headers that mirror a request's body in the stateless dialect. */
export function mirroredHeaders(
  version: string,
  method: string,
  capability: Capability | null,
  params: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    "mcp-protocol-version": version,
    "mcp-method": method,
    ...(capability !== null && mirrorsName(method) ? { "mcp-name": headerValue(capability.name) } : {}),
    ...params,
  };
}

/** The header value of an argument; null if it cannot be expressed in a header. */
export function argumentHeader(value: JsonValue | undefined): string | null {
  if (typeof value === "string") return headerValue(value);
  if (typeof value === "boolean" || (typeof value === "number" && Number.isSafeInteger(value))) return String(value);
  return null;
}

/** Whether a header value equals the argument. Numbers are compared numerically, so `42.0` equals 42. */
export function carriesArgument(header: string, value: JsonValue | undefined): boolean {
  if (typeof value === "number") return header.trim() !== "" && Number(header) === value;
  return typeof value === "string" ? fromHeaderValue(header) === value : header === String(value);
}
