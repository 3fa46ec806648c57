import { type FieldProblem, JsonDocument } from "../document.ts";
import type { OutboundChanges } from "../inbound.ts";
import { NOTHING_SENT, type SentSettings } from "../sent-settings.ts";
import { checkedResponsesBody, ResponsesRequest } from "./responses-request.ts";

/** How an answer is to be given changes no count, and who counts knows none of it. */
const SETTINGS = ["temperature", "top_p", "max_output_tokens", "stream", "store", "background"];

/** A Responses request whose input tokens are to be counted. */
class ResponsesCountRequest extends ResponsesRequest {
  override sentSettings(changes: OutboundChanges): SentSettings {
    return { ...NOTHING_SENT, instructions: super.sentSettings(changes).instructions };
  }

  protected override ownEdits(edits: Map<string, string | null>, changes: OutboundChanges): void {
    super.ownEdits(edits, changes);
    for (const name of SETTINGS) if (this.document.has(name)) edits.set(name, null);
  }
}

/** `bytes` as the caller sent them; every problem names its field. */
export function readResponsesCount(bytes: Uint8Array): ResponsesRequest | { readonly fields: FieldProblem[] } {
  const document = checkedResponsesBody(bytes);
  return document instanceof JsonDocument ? new ResponsesCountRequest(document) : document;
}
