import { ulid } from "../../../kernel/ids.ts";
import { isSameSecret } from "../../../kernel/secrets.ts";
import type { ToolParts } from "../tool-parts.ts";

/** IDs of the gateway's own requests; responses with any other ID are ignored. */
export const OWN_ID = /^gw-[0-9A-Z]{26}(?:-[0-9a-f]{32})?$/;

const markOf = ({ secrets }: Pick<ToolParts, "secrets">, id: string) => secrets.hmac("mcp-own-question", id).slice(0, 32);

/**
 * A request ID for the gateway's own request in another party's session. It carries a MAC, so a tool server's ID cannot be mistaken for it.
 */
export function gatewayRequestId(parts: Pick<ToolParts, "secrets">): string {
  const id = `gw-${ulid()}`;
  return `${id}-${markOf(parts, id)}`;
}

export function isGatewayRequestId(parts: Pick<ToolParts, "secrets">, id: unknown): id is string {
  return typeof id === "string" && OWN_ID.test(id) && isSameSecret(id.slice(30), markOf(parts, id.slice(0, 29)));
}
