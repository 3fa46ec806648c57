import { type Refusal, refuse } from "../kernel/errors.ts";
import { readWithin } from "./read-within.ts";

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
    return (await readWithin(request.body, maxBytes)) ?? tooLarge();
  } catch (error) {
    return refuse("invalid_body", "The request body broke off.", { reason: error instanceof Error ? error.message : String(error) });
  }
}
