import { refuse, Refused } from "../../kernel/errors.ts";
import { jsonObjectOf, utf8Of } from "../../wire/strict-input.ts";

const MAX_BODY_BYTES = 1024 * 1024;

/**
 * The JSON object of a request, undefined when it has no body. Throws a refusal for one that is larger than 1 MB, of
 * another content type, not JSON, no object, or with text that no record can hold.
 */
export async function readJsonBody(request: Request): Promise<Record<string, unknown> | undefined> {
  const text = utf8Of(await readBytes(request));
  return text === "" ? undefined : jsonObjectOf(text, request.headers.get("content-type") ?? "");
}

async function readBytes(request: Request): Promise<Uint8Array> {
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) throw new Refused(refuse("body_too_large"));
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of request.body ?? []) {
    size += piece.byteLength;
    if (size > MAX_BODY_BYTES) throw new Refused(refuse("body_too_large"));
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
