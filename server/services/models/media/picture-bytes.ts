import { isRefusal } from "../../../kernel/errors.ts";
import type { Provider, ProviderTarget } from "../../../upstreams/providers/provider.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { objectsOf } from "../../../wire/openai/loose-fields.ts";
import { readUpTo } from "../../../wire/http/read-up-to.ts";

const MAX_BYTES = 50 * 1024 * 1024;
const REQUEST_TIMEOUT_MS = 30_000;

/**
 * Replaces picture URLs in an answer by the bytes: a server that returns URLs although bytes were requested would have callers fetch what
 * the gateway neither stores nor can delete. Returns null synchronously if there is nothing to replace; a promise of null if a picture
 * could not be fetched.
 */
export function picturesAsBytes(body: JsonObject, provider: Provider, target: ProviderTarget): Promise<JsonObject | null> | null {
  const addressed = objectsOf(body.data).filter(([picture]) => typeof picture.b64_json !== "string");
  if (addressed.length === 0) return null;
  return (async () => {
    for (const [picture] of addressed) {
      const base64 = await fetched(String(picture.url), provider, target);
      if (base64 === null) return null;
      picture.b64_json = base64;
      delete picture.url;
    }
    return body;
  })();
}

async function fetched(url: string, { ask }: Provider, target: ProviderTarget): Promise<string | null> {
  const [, inline] = /^data:[^,]{1,100};base64,(.*)$/s.exec(url) ?? [];
  if (inline !== undefined) return inline;
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort("upstream_timeout"), REQUEST_TIMEOUT_MS * 2);
  try {
    const reply = await ask?.(target, { method: "GET", path: url, abort, timeoutMs: REQUEST_TIMEOUT_MS });
    if (reply === undefined || isRefusal(reply) || reply.response.status !== 200 || reply.response.body === null) return null;
    const bytes = await readUpTo(reply.response.body, MAX_BYTES, abort.signal);
    return bytes === null || abort.signal.aborted ? null : Buffer.from(bytes).toString("base64");
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}
