import { type Refusal, refuse } from "../kernel/errors.ts";
import { concat } from "../wire/sse-frames.ts";

/** The request's body, or why it is not taken. A body over the bound is not read further than the bound. */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array | Refusal> {
  const encoding = request.headers.get("content-encoding");
  if (encoding !== null && encoding !== "identity") return refuse("invalid_header", `content-encoding ${JSON.stringify(encoding)} is not accepted: send the body as it is.`);
  const tooLarge = () => refuse("body_too_large", `The request body is larger than ${Math.floor(maxBytes / 1024 / 1024)} MiB.`);
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > maxBytes) return tooLarge();
  try {
    if (declared !== null) return new Uint8Array(await request.arrayBuffer());
    if (request.body === null) return new Uint8Array(0);
    const reader = request.body.getReader();
    const parts: Uint8Array[] = [];
    let total = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return parts.length === 0 ? new Uint8Array(0) : concat(parts, total);
      total += value.byteLength;
      if (total > maxBytes) {
        await reader.cancel().catch(() => undefined);
        return tooLarge();
      }
      parts.push(value);
    }
  } catch (error) {
    return refuse("invalid_body", "The request body broke off.", { reason: error instanceof Error ? error.message : String(error) });
  }
}
