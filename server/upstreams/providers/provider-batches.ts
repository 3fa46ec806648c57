import { reasonOf, type Refusal, refuse } from "../../kernel/errors.ts";
import { OutboundDenied } from "../../runtime/destinations.ts";
import { type Outbound } from "../../runtime/outbound.ts";
import { isStorableText } from "../../kernel/text/storable.ts";
import { pacedBody } from "../../kernel/http/paced-body.ts";
import { readUpTo } from "../../wire/http/read-up-to.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import type { ProviderOperation } from "../../wire/operation.ts";
import { redactSecrets } from "../redact-secrets.ts";
import { secretsOf } from "../request-secrets.ts";
import type { ProviderTarget } from "./provider.ts";
import { outboundRefusal } from "./send.ts";

/** A line for the vendor: an ID unique within the batch (1 to 64 letters, digits, `_` and `-`) and its JSON body. */
export interface BatchedLine {
  readonly id: string;
  readonly body: string;
}

export interface BatchToSend {
  /** Stored with the batch where the vendor supports that, to find it again; also the prefix of every line's ID. */
  readonly key: string;
  readonly operation: ProviderOperation;
  readonly lines: readonly BatchedLine[];
  /** The submitter's headers that a vendor of Anthropic's format acts on. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The result of submitting a batch. `unknown`: the vendor may have accepted it. `later`: not accepted, may be retried. `busy`: not accepted
 * until other batches of the account have ended.
 */
export type SubmissionOutcome =
  | { readonly kind: "taken"; readonly id: string }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  | { readonly kind: "later" | "busy" | "unknown"; readonly refusal: Refusal };

/** Whether the vendor has a batch whose submission was not confirmed. `unsure`: it cannot be told before some batch has ended. */
export type Found = { readonly kind: "found"; readonly id: string } | { readonly kind: "none" | "unsure" };

/**
 * `ended`: no further line will be answered; `why` is the reason for lines without a result. `full`: accepted but then rejected without
 * running, because other batches of the account must end first. `unchecked`: it may still become `full`.
 */
export type ProviderBatchStatus =
  | { readonly kind: "running"; readonly unchecked?: true }
  | { readonly kind: "full" }
  | { readonly kind: "ended"; readonly why: "expired" | "cancelled" | "failed" | null; readonly message: string | null };

export type LineOutcomeOfVendor =
  | { readonly id: string; readonly status: number; readonly body: string }
  | { readonly id: string; readonly unanswered: "expired" | "cancelled" | "failed"; readonly message: string | null };

/** A vendor's batch API. Throws `VendorFault` if a request fails. */
export interface ProviderBatches {
  readonly operations: ReadonlySet<ProviderOperation>;
  /** Fewest lines that the vendor takes in a batch; 1 by default. */
  readonly leastLines?: number;
  /** Whether it refuses lines with tools. */
  readonly withoutTools?: boolean;
  /** Whether the submitter's headers are sent to it. */
  readonly takesHeaders?: boolean;
  /** Most lines and bytes of one batch. */
  readonly mostLines: number;
  readonly mostBytes: number;
  send(target: ProviderTarget, batch: BatchToSend, signal: AbortSignal): Promise<SubmissionOutcome>;
  /** Looks for a batch whose submission was not confirmed. `since`: when it was submitted, milliseconds; `known`: IDs of other batches. */
  find(
    target: ProviderTarget,
    batch: { readonly key: string; readonly lines: number; readonly since: number; readonly known: ReadonlySet<string> },
    signal: AbortSignal,
  ): Promise<Found>;
  readStatus(target: ProviderTarget, id: string, signal: AbortSignal): Promise<ProviderBatchStatus>;
  cancel(target: ProviderTarget, id: string, signal: AbortSignal): Promise<void>;
  /** The results of an ended batch, in any order and not necessarily for every line. */
  results(target: ProviderTarget, id: string, signal: AbortSignal): AsyncGenerator<LineOutcomeOfVendor>;
  /** Deletes the batch's files at the vendor. */
  tidy?(target: ProviderTarget, id: string, signal: AbortSignal): Promise<void>;
}

/** A failed request to a vendor, with the status it answered; null if it did not answer. */
export class VendorFault extends Error {
  readonly status: number | null;
  readonly refusal: Refusal;
  /** AWS's error type; null if there is none. */
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
  /** The vendor's own headers, including the credential. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

const HEAD_WITHIN_MS = 120_000;

/** Sends one request to the vendor. Throws `VendorFault` unless it succeeds; the caller must read the body of the response. */
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

/**
 * Limits the time between pieces of the body: a vendor that stalls would keep other batches waiting. `over`: called when nothing more is
 * read.
 */
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

/** Gemini answers with all results of a batch at once; other answers are smaller. */
const MAX_BYTES = 128 * 1024 * 1024;

/** Reads the body as text; throws if it is too long. */
export async function readText(response: Response): Promise<string> {
  const bytes = await readUpTo(response.body, MAX_BYTES);
  if (bytes === null) throw new VendorFault(null, refuse("upstream_invalid_response", undefined, { reason: "the answer is too long" }));
  return new TextDecoder().decode(bytes);
}

/** Answers that nobody reads are longer than this only by mistake or malice. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/** Discards the body, so that the connection can be reused. */
export async function drained(response: Response): Promise<void> {
  await readUpTo(response.body, MAX_UNREAD_BYTES).catch(() => undefined);
}

/** Reads the body with `parse`; null if it cannot be parsed. */
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

/** The result of a submission that failed with this error. */
export function submissionOutcome(error: unknown): SubmissionOutcome {
  if (!(error instanceof VendorFault)) throw error;
  const { status, refusal } = error;
  if (status === 429) return { kind: "busy", refusal };
  // A 4xx status means that no batch was created; any other, or no answer, leaves it unknown.
  if (status !== null && status >= 400 && status < 500) return { kind: "refused", refusal };
  return { kind: "unknown", refusal };
}

/** The same for requests that only prepare a batch: no batch was created. */
export function notBegun(error: unknown): SubmissionOutcome {
  const failed = submissionOutcome(error);
  return failed.kind === "unknown" ? { ...failed, kind: "later" } : failed;
}

/** For a record that lost its bucket after batches were enabled. */
export const noStorage = (): Refusal =>
  refuse("upstream_error", undefined, { reason: "storage_uri of the provider is not set, and its batches go through that bucket" });

/** A non-empty string that the database can store; null for anything else. */
export const wordIn = (value: unknown): string | null =>
  typeof value === "string" && value !== "" && isStorableText(value) ? value : null;
