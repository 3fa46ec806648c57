import type { Outbound } from "../../runtime/outbound.ts";
import { readUpTo } from "../../wire/http/read-up-to.ts";

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 512 * 1024;

/** Fetches the JSON documents that identity providers publish, at URLs that tenants configure. Rejects if that fails. */
export function issuerDocuments(outbound: Outbound): (url: string) => Promise<unknown> {
  return async (url) => {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(new Error(`no document within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
    try {
      const response = await outbound.fetch(url, {
        method: "GET",
        headers: { accept: "application/json", "user-agent": "gatehouse" },
        abort,
        timeoutMs: TIMEOUT_MS,
      });
      if (response.status !== 200) throw new Error(`the identity provider answered with ${response.status}`);
      return JSON.parse(await boundedText(response, MAX_BYTES)) as unknown;
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Reads an answer of any length as text. Rejects above `maxBytes`. */
export async function boundedText(response: Response, maxBytes: number): Promise<string> {
  const bytes = await readUpTo(response.body, maxBytes);
  if (bytes === null) throw new Error(`the identity provider's answer is larger than ${maxBytes} bytes`);
  return Buffer.from(bytes).toString("utf8");
}
