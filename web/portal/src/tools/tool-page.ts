import { isPlainObject } from "./mcp-request.ts";

/** The page of a tool's interface, and where it is put into a frame of its own. */
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

/** Base64 is longer than what it stands for: a content of the very size that is told is text. */
function htmlOf({ content, size_bytes: size }: AppResource): string {
  if (new TextEncoder().encode(content).byteLength === size) return content;
  return new TextDecoder().decode(Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0)));
}

/** Which hosts the interface asks for is told to the gateway, which grants those that an administrator allows. */
export function toolPage(resource: AppResource): ToolPage {
  const meta = isPlainObject(resource._meta) ? resource._meta : {};
  const ui = isPlainObject(meta.ui) ? meta.ui : {};
  const csp = isPlainObject(ui.csp) ? ui.csp : {};
  const asked = new URLSearchParams([
    ...namesOf(csp.connectDomains).map((domain) => ["connect", domain]),
    ...namesOf(csp.resourceDomains).map((domain) => ["resource", domain]),
  ]).toString();
  return { html: htmlOf(resource), address: `/portal/sandbox${asked === "" ? "" : `?${asked}`}` };
}
