import { ulid } from "../../../kernel/ids.ts";
import { isSameSecret } from "../../../kernel/secrets.ts";
import type { ToolParts } from "../tool-parts.ts";

/** Of the requests this gateway makes: an answer to any other is ignored. */
export const OWN_ID = /^gw-[0-9A-Z]{26}(?:-[0-9a-f]{32})?$/;

const markOf = ({ secrets }: Pick<ToolParts, "secrets">, id: string) => secrets.hmac("mcp-own-question", id).slice(0, 32);

/** The id of a request this gateway makes itself in a session that is another's: a tool server's own ids never look like it. */
export function gatewayRequestId(parts: Pick<ToolParts, "secrets">): string {
  const id = `gw-${ulid()}`;
  return `${id}-${markOf(parts, id)}`;
}

export function isGatewayRequestId(parts: Pick<ToolParts, "secrets">, id: unknown): id is string {
  return typeof id === "string" && OWN_ID.test(id) && isSameSecret(id.slice(30), markOf(parts, id.slice(0, 29)));
}
