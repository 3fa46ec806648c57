import type { SessionCredential } from "../../../directory/tools/session-state.ts";
import { reasonOf, type Refusal, refuse } from "../../../kernel/errors.ts";
import { isStorableText } from "../../../kernel/text/storable.ts";
import { MAX_URI_LENGTH } from "../../../kernel/operations/subscription-bounds.ts";
import type { RpcMessage } from "../../../wire/mcp/rpc.ts";
import type { ToolParts } from "../tool-parts.ts";

/** Stores that a session subscribes to or unsubscribes from a resource, for all processes. Returns a refusal if that fails. */
export async function subscribed(
  { method, params }: RpcMessage,
  noted: SessionCredential,
  { sessionState }: Pick<ToolParts, "sessionState">,
): Promise<Refusal | null> {
  const uri = String(params.uri);
  if (uri.length > MAX_URI_LENGTH || !isStorableText(uri))
    return refuse("rpc_invalid_params", `params.uri must be an address of at most ${MAX_URI_LENGTH} characters.`);
  let taken = true;
  const lost = await noteOrRefuse(async () => {
    if (method === "resources/unsubscribe") await sessionState.unsubscribe(noted, uri);
    else taken = await sessionState.subscribe(noted, uri);
  });
  return lost ?? (taken ? null : refuse("rpc_invalid_params", "The session subscribes to too many resources."));
}

/** Stores a fact of a session for all processes; a refusal if it cannot be stored. */
export async function noteOrRefuse(note: () => Promise<void>): Promise<Refusal | null> {
  try {
    await note();
    return null;
  } catch (error) {
    return refuse("directory_unavailable", "What was said for the session cannot be kept just now.", {
      reason: reasonOf(error),
      headers: { "retry-after": "1" },
    });
  }
}
