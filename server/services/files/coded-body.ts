import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";

/** Bodies that are read as they come are read as they are: why one in another coding is not. */
export function codedBody({ headers }: Call): Refusal | null {
  const encoding = headers.get("content-encoding");
  if (encoding === null || encoding.toLowerCase() === "identity") return null;
  return refuse("unsupported_media_type", `content-encoding ${JSON.stringify(encoding)} is not accepted: send the body as it is.`);
}
