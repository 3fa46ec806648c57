import type { Call } from "../../../road/call.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { errorText, idIn, memberText } from "../../../wire/mcp/rpc.ts";
import { QUESTION_WITHHELD, inspectedText } from "./answer-gate.ts";
import type { Asked } from "../forwarding/exchange.ts";
import type { ToolParts } from "../tool-parts.ts";
import type { UpstreamMessage } from "../forwarding/upstream-messages.ts";

/**
 * Inspects a message that a server sends before its answer. Null if it is withheld; a server that asked a question then gets an error and
 * can continue.
 */
export async function inspectedMessage(
  call: Call,
  exchange: Pick<Asked, "respond">,
  message: UpstreamMessage,
  parts: Pick<ToolParts, "gates">,
): Promise<UpstreamMessage | null> {
  const text = await inspectedText(call, message, parts);
  if (text === message.text) return message;
  if (text !== null) return { text, value: JSON.parse(text) as JsonObject };
  const { id, method } = message.value;
  if (typeof method === "string" && id !== undefined)
    await exchange.respond(errorText(idIn(memberText(message.text, "id"), id), QUESTION_WITHHELD));
  return null;
}
