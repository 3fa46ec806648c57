import { sha256Hex } from "../../kernel/secrets.ts";
import type { Call } from "../call.ts";

/** Records only the hash of a request whose text holds, or may hold, what must not be stored. */
export function withholdContent(call: Pick<Call, "row" | "requestContent">): void {
  if (call.requestContent === null) return;
  call.row.request_content_hash = sha256Hex(call.requestContent);
  call.requestContent = null;
}
