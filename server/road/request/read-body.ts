import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { reasonOf, type Refusal, refuse, isRefusal } from "../../kernel/errors.ts";
import { eventLoopBatch } from "../../kernel/scheduling/event-loop-batch.ts";
import { ArrivingBodies, type NotArrived } from "../../wire/http/arriving-bodies.ts";

const inflate = promisify(gunzip);

const arrived = eventLoopBatch();

const ofOperators = new ArrivingBodies();

/** How to read a body. `place` and `sender`: see `ArrivingBodies.read`. */
interface BodyTerms {
  readonly mayBeGzip?: boolean;
  readonly place?: string | null;
  readonly sender?: string | undefined;
  /** The pool whose limits apply; when left out, the one that administrative APIs share. */
  readonly bodies?: ArrivingBodies;
}

/**
 * The request's body, or the refusal. Reads no further than `maxBytes`, which also bounds the decompressed size. Bodies that arrive
 * together continue together.
 */
export async function readBody(
  request: Request,
  maxBytes: number,
  { mayBeGzip = false, place = null, sender, bodies = ofOperators }: BodyTerms = {},
): Promise<Uint8Array | Refusal> {
  const plain = () => readPlain(maxBytes, bodies.read(request, maxBytes, place, sender));
  // Content coding names are case-insensitive.
  const encoding = request.headers.get("content-encoding")?.toLowerCase() ?? null;
  if (mayBeGzip && encoding === "gzip") {
    const packed = await plain();
    return isRefusal(packed) ? packed : unpacked(packed, maxBytes);
  }
  return refusedCoding(request, mayBeGzip ? "gzip, identity" : "identity") ?? plain();
}

/** The refusal for an unsupported content-encoding; null if the body is not encoded. */
export function refusedCoding({ headers }: { readonly headers: Pick<Headers, "get"> }, accepted = "identity"): Refusal | null {
  const encoding = headers.get("content-encoding")?.toLowerCase() ?? "identity";
  if (encoding === "identity") return null;
  return refuse("unsupported_media_type", `content-encoding ${JSON.stringify(encoding)} is not accepted: send the body as it is.`, {
    headers: { "accept-encoding": accepted },
  });
}

const UNITS = [
  [1024 * 1024, "MiB"],
  [1024, "KiB"],
  [1, "bytes"],
] as const;

function tooLarge(maxBytes: number): Refusal {
  const [size, unit] = UNITS.find(([candidate]) => maxBytes % candidate === 0) ?? UNITS[2];
  return refuse("body_too_large", `The request body is larger than ${maxBytes / size} ${unit}.`);
}

/** Closes the connection, so that the rest of the body is not waited for. */
function notTaken(why: "too_slow" | "too_many"): Refusal {
  return why === "too_slow"
    ? refuse("body_timeout", undefined, { headers: { connection: "close" } })
    : refuse("too_many_open_bodies", undefined, { headers: { connection: "close", "retry-after": "1" } });
}

async function unpacked(packed: Uint8Array, maxBytes: number): Promise<Uint8Array | Refusal> {
  try {
    return await inflate(packed, { maxOutputLength: maxBytes });
  } catch (error) {
    return (error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE"
      ? tooLarge(maxBytes)
      : refuse("invalid_body", "The request body is not gzip.");
  }
}

async function readPlain(maxBytes: number, arriving: Promise<Uint8Array | NotArrived>): Promise<Uint8Array | Refusal> {
  try {
    const read = await arriving;
    await arrived();
    if (typeof read !== "string") return read;
    return read === "too_large" ? tooLarge(maxBytes) : notTaken(read);
  } catch (error) {
    return refuse("invalid_body", "The request body broke off.", { reason: reasonOf(error) });
  }
}
