import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { reasonOf, type Refusal, refuse, isRefusal } from "../kernel/errors.ts";
import { turn } from "../kernel/turn.ts";
import { readWithin } from "../wire/read-within.ts";

const inflate = promisify(gunzip);

const arrived = turn();

/**
 * The request's body, or why it is not taken. A body over the bound is not read further than the bound, which holds for
 * what was packed as well. Bodies that arrive together go on together.
 */
export async function readBody(request: Request, maxBytes: number, mayBeGzip = false): Promise<Uint8Array | Refusal> {
  // Names of codings are the same in any case.
  const encoding = request.headers.get("content-encoding")?.toLowerCase() ?? null;
  if (mayBeGzip && encoding === "gzip") {
    const packed = await readPlain(request, maxBytes);
    return isRefusal(packed) ? packed : unpacked(packed, maxBytes);
  }
  if (encoding !== null && encoding !== "identity")
    return refuse("invalid_header", `content-encoding ${JSON.stringify(encoding)} is not accepted: send the body as it is.`);
  return readPlain(request, maxBytes);
}

const tooLarge = (maxBytes: number) =>
  refuse("body_too_large", `The request body is larger than ${Math.floor(maxBytes / 1024 / 1024)} MiB.`);

async function unpacked(packed: Uint8Array, maxBytes: number): Promise<Uint8Array | Refusal> {
  try {
    return await inflate(packed, { maxOutputLength: maxBytes });
  } catch (error) {
    return (error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE"
      ? tooLarge(maxBytes)
      : refuse("invalid_body", "The request body is not gzip.");
  }
}

async function readPlain(request: Request, maxBytes: number): Promise<Uint8Array | Refusal> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > maxBytes) return tooLarge(maxBytes);
  try {
    if (declared !== null) {
      const whole = await request.arrayBuffer();
      await arrived();
      return new Uint8Array(whole);
    }
    if (request.body === null) return new Uint8Array(0);
    return (await readWithin(request.body, maxBytes)) ?? tooLarge(maxBytes);
  } catch (error) {
    return refuse("invalid_body", "The request body broke off.", { reason: reasonOf(error) });
  }
}
