import { type Refusal, refuse } from "../../../kernel/errors.ts";
import { ulid } from "../../../kernel/ids.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { ownEntry } from "../../../kernel/collections/own-entry.ts";
import { INPUT_CAPABILITY } from "../../../wire/mcp/input-capabilities.ts";
import { requestText } from "../../../wire/mcp/rpc.ts";
import { awaitClientAnswer } from "./client-answers.ts";
import type { ForwardedRequest } from "../forwarding/forwarded-request.ts";
import type { ToolParts } from "../tool-parts.ts";

/** The caller's response, kept in a member of its own because its fields are chosen by the caller. */
export type ClientInput = { readonly given: JsonObject } | { readonly refusal: Refusal };

/** A request to be sent on the caller's stream, and the caller's response to it. */
export function questionFor(
  request: ForwardedRequest,
  method: string,
  params: string | null,
  signal: AbortSignal,
  parts: ToolParts,
): { readonly id: string; readonly text: string; readonly given: Promise<ClientInput> } | Refusal {
  const needed = ownEntry(INPUT_CAPABILITY, method);
  if (request.session === null || needed === undefined || request.sender.capabilities[needed] === undefined)
    return refuse("input_not_supported");
  const id = `gw-${ulid()}`;
  const given = awaitClientAnswer(parts, request.session, id, signal).then((answer) =>
    answer === null ? { refusal: refuse("input_not_supported", "The input the tool server asked for never came.") } : { given: answer },
  );
  return { id, text: requestText(id, method, params), given };
}
