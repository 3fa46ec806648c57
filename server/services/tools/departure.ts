import { reasonOf, type Refusal, refuse } from "../../kernel/errors.ts";
import { sha256Hex } from "../../kernel/secrets.ts";
import type { Call } from "../../road/call.ts";
import type { ToolParts } from "./tool-parts.ts";

/** Says on the row where the call is about to go; a refusal when that could not be recorded. */
export function departure(call: Call, url: string, body: string | Uint8Array | null, { begin }: Pick<ToolParts, "begin">): Refusal | null {
  call.row.target_url = url.split("?")[0] as string;
  if (body !== null) {
    call.requestContent = body;
    call.row.request_content_hash = sha256Hex(body);
  }
  try {
    begin(call);
    return null;
  } catch (error) {
    return refuse("audit_unavailable", undefined, { reason: reasonOf(error) });
  }
}
