import { readBody } from "../../road/request/read-body.ts";
import { isRefusal } from "../../kernel/errors.ts";
import { Refused } from "../../kernel/errors.ts";
import { jsonObjectOf } from "../../wire/json/json-object.ts";
import { utf8Of } from "../../wire/http/strict-input.ts";

const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Reads the request's JSON object; undefined without a body. `place`: the network of a caller who is not signed in. Throws a refusal for a
 * body that is larger than 1 MB, of another content type, not a JSON object, or contains text that cannot be stored.
 */
export async function readJsonBody(request: Request, place: string | null): Promise<Record<string, unknown> | undefined> {
  const text = utf8Of(await readBytes(request, place));
  return text === "" ? undefined : jsonObjectOf(text, request.headers.get("content-type") ?? "");
}

async function readBytes(request: Request, place: string | null): Promise<Uint8Array> {
  const read = await readBody(request, MAX_BODY_BYTES, { place });
  if (isRefusal(read)) throw new Refused(read);
  return read;
}
