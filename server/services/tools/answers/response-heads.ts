import { isObject } from "../../../kernel/json-value.ts";
import { showsApps } from "../../../wire/mcp/apps.ts";
import { supportsUrlElicitation } from "../../../wire/mcp/elicitation.ts";
import type { ClientSupport } from "../sessions/session-token.ts";
import type { ToolRequest } from "../tool-request.ts";

/** The capabilities that the client declares in `initialize`; none for any other message. */
export function clientSupportOf(message: ToolRequest["message"]): ClientSupport {
  const capabilities = message?.method === "initialize" && isObject(message.params.capabilities) ? message.params.capabilities : {};
  return { apps: showsApps(capabilities), addresses: supportsUrlElicitation(capabilities) };
}

export function isJson(response: Response): boolean {
  return response.headers.get("content-type")?.toLowerCase().includes("json") === true;
}
