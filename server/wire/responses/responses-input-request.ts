import { type FieldProblem, JsonDocument } from "../json/document.ts";
import type { OutboundChanges } from "../inbound.ts";
import { NOTHING_SENT, type SentSettings } from "../sent-settings.ts";
import { checkedResponsesBody, ResponsesRequest } from "./responses-request.ts";

/** Settings of the answer, which the endpoints for counting and compacting do not accept. */
const SETTINGS = ["temperature", "top_p", "max_output_tokens", "stream", "store", "background"];

/** A Responses request that is not answered: only its input matters. */
class ResponsesInputRequest extends ResponsesRequest {
  readonly unbounded = true;

  override sentSettings(changes: OutboundChanges): SentSettings {
    return { ...NOTHING_SENT, instructions: super.sentSettings(changes).instructions };
  }

  override outbound(changes: OutboundChanges): string {
    return super.outbound({ ...changes, defaultTemperature: null, defaultMaxTokens: null });
  }

  protected override ownEdits(edits: Map<string, string | null>, changes: OutboundChanges): void {
    super.ownEdits(edits, changes);
    for (const name of SETTINGS) if (this.document.has(name)) edits.set(name, null);
  }
}

/** `bytes` is the caller's body; each problem names its field. */
export function readResponsesInput(bytes: Uint8Array): ResponsesRequest | { readonly fields: FieldProblem[] } {
  const document = checkedResponsesBody(bytes);
  return document instanceof JsonDocument ? new ResponsesInputRequest(document) : document;
}
