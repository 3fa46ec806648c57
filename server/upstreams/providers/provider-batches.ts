import { reasonOf, type Refusal, refuse } from "../../kernel/errors.ts";
import { type Outbound, OutboundDenied } from "../../runtime/outbound.ts";
import { isStorableText } from "../../kernel/text/storable.ts";
import { pacedBody } from "../../kernel/http/paced-body.ts";
import { readUpTo } from "../../wire/http/read-up-to.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import type { ProviderOperation } from "../../wire/operation.ts";
import { redactSecrets } from "../redact-secrets.ts";
import { secretsOf } from "../request-secrets.ts";
import type { ProviderTarget } from "./provider.ts";
import { outboundRefusal } from "./send.ts";

/** One line as the vendor is to have it: its id within the batch, 1 to 64 letters, digits, `_` and `-`, and its JSON. */
export interface BatchedLine {
  readonly id: string;
  readonly body: string;
}

export interface BatchToSend {
  /** Told to the vendor where it keeps such a thing, so that the batch is found again; what every line's id begins with. */
  readonly key: string;
  readonly operation: ProviderOperation;
  readonly lines: readonly BatchedLine[];
  /** Headers of whoever submitted them that a vendor of Anthropic's format acts on. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * What became of handing a batch over. `unknown`: the vendor may have it all the same. `later`: it does not, and may be asked again;
 * `busy`: nor does it, and takes none until others of ours have ended.
 */
export type HandedOver =
  | { readonly kind: "taken"; readonly id: string }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  | { readonly kind: "later" | "busy" | "unknown"; readonly refusal: Refusal };

/** Whether the vendor has a batch that it was handed and did not confirm. `unsure`: only its end can tell. */
export type Found = { readonly kind: "found"; readonly id: string } | { readonly kind: "none" | "unsure" };

/**
 * `ended`: nothing of it will be answered any more; `why` says what is the matter with lines that have no result. `full`: it was
 * taken and then turned away, as others of ours have to end first, and nothing of it was run. `unchecked`: it may still be.
 */
export type BatchStanding =
  | { readonly kind: "running"; readonly unchecked?: true }
  | { readonly kind: "full" }
  | { readonly kind: "ended"; readonly why: "expired" | "cancelled" | "failed" | null; readonly message: string | null };

export type LineOutcomeOfVendor =
  | { readonly id: string; readonly status: number; readonly body: string }
  | { readonly id: string; readonly unanswered: "expired" | "cancelled" | "failed"; readonly message: string | null };

/** A vendor's batches. Throws `VendorFault` where the vendor cannot be asked. */
export interface ProviderBatches {
  readonly operations: ReadonlySet<ProviderOperation>;
  /** Lines below which the vendor takes no batch; one when left out. */
  readonly leastLines?: number;
  /** Whether it refuses lines that bring tools. */
  readonly withoutTools?: boolean;
  /** Whether it is sent the headers that lines came with. */
  readonly takesHeaders?: boolean;
  /** Lines and bytes of one batch. */
  readonly mostLines: number;
  readonly mostBytes: number;
  send(target: ProviderTarget, batch: BatchToSend, signal: AbortSignal): Promise<HandedOver>;
  /** `since`: when it was handed over, milliseconds; `known`: ids that are others. */
  find(
    target: ProviderTarget,
    batch: { readonly key: string; readonly lines: number; readonly since: number; readonly known: ReadonlySet<string> },
    signal: AbortSignal,
  ): Promise<Found>;
  look(target: ProviderTarget, id: string, signal: AbortSignal): Promise<BatchStanding>;
  cancel(target: ProviderTarget, id: string, signal: AbortSignal): Promise<void>;
  /** Of a batch that has ended; in any order, and not of every line. */
  results(target: ProviderTarget, id: string, signal: AbortSignal): AsyncGenerator<LineOutcomeOfVendor>;
  /** Takes away what was left at the vendor for it. */
  tidy?(target: ProviderTarget, id: string, signal: AbortSignal): Promise<void>;
}

/** The vendor did not do what it was asked for; with the status it answered, null where it answered nothing. */
export class VendorFault extends Error {
  readonly status: number | null;
  readonly refusal: Refusal;
  /** What AWS calls it; null where nobody calls it anything. */
  readonly kind: string | null;
  constructor(status: number | null, refusal: Refusal, kind: string | null = null) {
    super(refusal.reason ?? refusal.message);
    this.name = "VendorFault";
    this.status = status;
    this.refusal = refusal;
    this.kind = kind;
  }
}

interface VendorRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly url: string;
  /** The vendor's own: its credential among them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

const HEAD_WITHIN_MS = 120_000;

/** Asks the vendor once. Throws `VendorFault` for every answer that is none of success; the body of one that is has to be read. */
export async function askForBatches(
  outbound: Outbound,
  target: Pick<ProviderTarget, "headers">,
  request: VendorRequest,
): Promise<Response> {
  const { method, url, body, signal } = request;
  const headers: Record<string, string> = {};
  for (const name in target.headers) headers[name.toLowerCase()] = target.headers[name] as string;
  Object.assign(headers, { accept: "application/json", "accept-encoding": "identity", "user-agent": "gatehouse" });
  if (body !== undefined) headers["content-type"] = "application/json";
  for (const name in request.headers) headers[name.toLowerCase()] = request.headers[name] as string;
  const abort = new AbortController();
  const follow = () => abort.abort(signal.reason);
  if (signal.aborted) follow();
  else signal.addEventListener("abort", follow, { once: true });
  const release = () => signal.removeEventListener("abort", follow);
  let response: Response;
  try {
    const sent = { method, headers, abort, timeoutMs: HEAD_WITHIN_MS, ...(body === undefined ? {} : { body }) };
    response = redactSecrets(await outbound.fetch(url, sent), secretsOf(headers));
  } catch (error) {
    release();
    throw new VendorFault(error instanceof OutboundDenied ? 403 : null, outboundRefusal(error));
  }
  if (response.body === null) release();
  const paced = response.body === null ? response : withinTime(response, response.body, abort, release);
  if (response.status >= 200 && response.status < 300) return paced;
  const text = await readText(paced).catch((error: unknown) => reasonOf(error));
  throw new VendorFault(response.status, refusalOf(response.status, text), response.headers.get("x-amzn-errortype"));
}

/** A vendor that stops in the middle of an answer would keep batches of others waiting. `over`: told when nothing more is read. */
function withinTime(
  { status, statusText, headers }: Response,
  body: ReadableStream<Uint8Array>,
  abort: AbortController,
  over: () => void,
): Response {
  const pieces = pacedBody(body);
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await pieces.next();
          if (done !== true) return controller.enqueue(value);
          over();
          controller.close();
        } catch (error) {
          over();
          abort.abort(error);
          throw error;
        }
      },
      cancel() {
        over();
        void pieces.return(undefined).catch(() => undefined);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(stream, { status, statusText, headers });
}

/** Gemini answers with all results of a batch at once; nobody answers with more than this. */
const MOST_BYTES = 128 * 1024 * 1024;

/** The text of an answer that is not too long to be held; throws where it is. */
export async function readText(response: Response): Promise<string> {
  const bytes = await readUpTo(response.body, MOST_BYTES);
  if (bytes === null) throw new VendorFault(null, refuse("upstream_invalid_response", undefined, { reason: "the answer is too long" }));
  return new TextDecoder().decode(bytes);
}

/** Of an answer that says nothing beyond its status: a connection is used again once its answer was read. */
export async function drained(response: Response): Promise<void> {
  await response.arrayBuffer().catch(() => undefined);
}

/** The JSON of one, as `parse` reads it; null where it is none. */
export async function readJsonText(response: Response, parse: (json: string) => unknown = JSON.parse): Promise<unknown> {
  const text = await readText(response);
  try {
    return parse(text);
  } catch {
    return null;
  }
}

function refusalOf(status: number, text: string): Refusal {
  const reason = `the provider answered ${status}: ${text.slice(0, 500)}`;
  if (status === 401 || status === 403) return refuse("upstream_auth_failed", undefined, { reason });
  if (status === 429 || status === 503 || status === 529) return refuse("upstream_overloaded", undefined, { reason });
  return refuse("upstream_error", undefined, { reason });
}

export async function askForBatchJson(
  outbound: Outbound,
  target: Pick<ProviderTarget, "headers">,
  request: VendorRequest,
  parse?: (json: string) => unknown,
): Promise<JsonObject> {
  const response = await askForBatches(outbound, target, request);
  const value: unknown = await readJsonText(response, parse);
  if (isObject(value)) return value;
  throw new VendorFault(response.status, refuse("upstream_invalid_response"));
}

/** What handing over came to, where asking for it failed. `refuses`: with this status nothing was made. */
export function handedOver(error: unknown): HandedOver {
  if (!(error instanceof VendorFault)) throw error;
  const { status, refusal } = error;
  if (status === 429) return { kind: "busy", refusal };
  // What answers 4xx has made nothing; what answered otherwise, or not at all, may have.
  if (status !== null && status >= 400 && status < 500) return { kind: "refused", refusal };
  return { kind: "unknown", refusal };
}

/** The same of what only makes a batch ready: nothing of it was begun. */
export function notBegun(error: unknown): HandedOver {
  const failed = handedOver(error);
  return failed.kind === "unknown" ? { ...failed, kind: "later" } : failed;
}

/** Of a record that lost its bucket since it was said to run batches. */
export const noStorage = (): Refusal =>
  refuse("upstream_error", undefined, { reason: "storage_uri of the provider is not set, and its batches go through that bucket" });

/** Null of what no record can hold. */
export const wordIn = (value: unknown): string | null =>
  typeof value === "string" && value !== "" && isStorableText(value) ? value : null;
