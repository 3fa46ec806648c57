import type { NamedHeaders } from "../../kernel/http/request-headers.ts";
import type { JsonValue } from "../../kernel/json-value.ts";
import { type Capability, mirrorsName } from "./capability.ts";
import { fromHeaderValue, headerValue } from "./header-values.ts";

/** What a request's mirroring headers say that its body does not; null when they agree. A header that is absent agrees. */
export function headerMismatch(
  headers: NamedHeaders,
  method: string,
  capability: Capability | null,
  version: string | null,
): string | null {
  const told = headers.get("mcp-method");
  if (told !== null && told !== method) return `Mcp-Method is ${JSON.stringify(told)} and the body's method ${JSON.stringify(method)}.`;
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

/** The mirroring headers of a request in the stateless dialect. */
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

/** An argument as its header says it; null for what no header can say. */
export function argumentHeader(value: JsonValue | undefined): string | null {
  if (typeof value === "string") return headerValue(value);
  if (typeof value === "boolean" || (typeof value === "number" && Number.isSafeInteger(value))) return String(value);
  return null;
}

/** Whether a header says the argument's value; whole numbers count as numbers, so that 42.0 is 42. */
export function saysArgument(header: string, value: JsonValue | undefined): boolean {
  if (typeof value === "number") return header.trim() !== "" && Number(header) === value;
  return typeof value === "string" ? fromHeaderValue(header) === value : header === String(value);
}
