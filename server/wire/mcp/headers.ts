import type { NamedHeaders } from "../../kernel/request-headers.ts";
import type { JsonValue } from "../document.ts";
import { type Capability, mirrorsName } from "./capability.ts";

const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/;
const SENTINEL = /^=\?base64\?(.*)\?=$/;

/** A value as the stateless dialect writes it into a header: plain, or base64 between its markers. */
export function headerValue(text: string): string {
  return PLAIN.test(text) && !SENTINEL.test(text) ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}

/** Null when the value is not one of either form. */
export function fromHeaderValue(value: string): string | null {
  const encoded = SENTINEL.exec(value)?.[1];
  if (encoded === undefined) return value;
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(encoded)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(encoded, "base64"));
  } catch {
    return null;
  }
}

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
