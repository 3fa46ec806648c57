import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { reasonOf, type Refusal, refuse, isRefusal } from "../kernel/errors.ts";
import { eventLoopBatch } from "../kernel/scheduling/event-loop-batch.ts";
import { ArrivingBodies, type NotArrived } from "../wire/http/arriving-bodies.ts";

const inflate = promisify(gunzip);

const arrived = eventLoopBatch();

const ofOperators = new ArrivingBodies();

/** How a body is read. `place` and `sender`: see `ArrivingBodies.read`. */
interface BodyTerms {
  readonly mayBeGzip?: boolean;
  readonly place?: string | null;
  readonly sender?: string | undefined;
  /** The bodies it is read among: those of operators, where nothing is said. */
  readonly bodies?: ArrivingBodies;
}

/**
 * The request's body, or why it is not taken. A body over the bound is not read further than the bound, which holds for
 * what was packed as well. Bodies that arrive together go on together.
 */
export async function readBody(
  request: Request,
  maxBytes: number,
  { mayBeGzip = false, place = null, sender, bodies = ofOperators }: BodyTerms = {},
): Promise<Uint8Array | Refusal> {
  const plain = () => readPlain(maxBytes, bodies.read(request, maxBytes, place, sender));
  // Names of codings are the same in any case.
  const encoding = request.headers.get("content-encoding")?.toLowerCase() ?? null;
  if (mayBeGzip && encoding === "gzip") {
    const packed = await plain();
    return isRefusal(packed) ? packed : unpacked(packed, maxBytes);
  }
  return refusedCoding(request, mayBeGzip ? "gzip, identity" : "identity") ?? plain();
}

/** Why a body in the coding that it says it is in is not taken; null where it comes as it is. */
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

/** The connection goes with it: what is still to come of the body is not waited for. */
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
