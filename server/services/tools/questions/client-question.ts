import { type Refusal, refuse } from "../../../kernel/errors.ts";
import { ulid } from "../../../kernel/ids.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { ownEntry } from "../../../kernel/collections/own-entry.ts";
import { INPUT_CAPABILITY } from "../../../wire/mcp/input-capabilities.ts";
import { requestText } from "../../../wire/mcp/rpc.ts";
import { awaitClientAnswer } from "./client-answers.ts";
import type { ForwardedRequest } from "../forwarding/forwarded-request.ts";
import type { ToolParts } from "../tool-parts.ts";

/** What the caller gave; its own members are the caller's, so they stand apart from a refusal's. */
export type ClientInput = { readonly given: JsonObject } | { readonly refusal: Refusal };

/** A request that is to go out on the caller's own stream, and what the caller answers. */
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
