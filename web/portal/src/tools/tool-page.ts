import { isPlainObject } from "./mcp-request.ts";

/** The page of a tool's interface, and the URL to load it into a frame. */
export interface ToolPage {
  readonly html: string;
  readonly address: string;
}

interface AppResource {
  readonly content: string;
  readonly size_bytes: number;
  readonly _meta?: unknown;
}

const namesOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === "string").slice(0, 32) : [];

/** Base64 is longer than what it encodes: content of exactly the stated size is plain text. */
function htmlOf({ content, size_bytes: size }: AppResource): string {
  if (new TextEncoder().encode(content).byteLength === size) return content;
  return new TextDecoder().decode(Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0)));
}

/** Passes the hosts the interface asks for to the gateway, which grants those that an administrator allows. */
export function toolPage(resource: AppResource): ToolPage {
  const meta = isPlainObject(resource._meta) ? resource._meta : {};
  const ui = isPlainObject(meta.ui) ? meta.ui : {};
  const csp = isPlainObject(ui.csp) ? ui.csp : {};
  const addressQuery = new URLSearchParams([
    ...namesOf(csp.connectDomains).map((domain) => ["connect", domain]),
    ...namesOf(csp.resourceDomains).map((domain) => ["resource", domain]),
  ]).toString();
  return { html: htmlOf(resource), address: `/portal/sandbox${addressQuery === "" ? "" : `?${addressQuery}`}` };
}
