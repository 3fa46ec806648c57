import { isObject } from "../../kernel/json-value.ts";
import { decodedSegment } from "../../kernel/http/request-path.ts";
import { isStorableText } from "../../kernel/text/storable.ts";
import type { Call } from "../call.ts";

const MAX_BODY_BYTES = 1_048_576;
const MAX_NAME_LENGTH = 255;
/** Google's format names the model in the path. */
const IN_PATH = /\/models\/(.+):\w+$/;

/** Records the model that an invalid request names, so that such requests can be found by their model. */
export function noteNamedModel({ row, path }: Pick<Call, "row" | "path">, body: Uint8Array | null): void {
  if (row.proxy_type !== "llm") return;
  const inPath = IN_PATH.exec(path)?.[1];
  const name = inPath === undefined ? nameInBody(body) : decodedSegment(inPath);
  if (typeof name !== "string" || name === "" || name.length > MAX_NAME_LENGTH || !isStorableText(name)) return;
  row.llm_model_requested = name;
}

function nameInBody(body: Uint8Array | null): unknown {
  if (body === null || body.byteLength > MAX_BODY_BYTES) return null;
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    return isObject(value) ? (value.model_id ?? value.model) : null;
  } catch {
    return null;
  }
}
