import { codedReason } from "../../kernel/http/network-reason.ts";
import { storableText } from "../../kernel/text/storable.ts";
import { OutboundDenied } from "../../runtime/destinations.ts";
import { type Outbound } from "../../runtime/outbound.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { readUpTo } from "../../wire/http/read-up-to.ts";
import { msOfRetryAfter } from "../../wire/http/retry-after.ts";
import { UsageRefused } from "./usage-vendor.ts";

/** Timeout of a whole request; shorter than a run's lease. */
export const VENDOR_TIMEOUT_MS = 25_000;
const MAX_BYTES = 32 * 1024 * 1024;
/** Upper bound on the vendor's Retry-After. */
const MAX_WAIT_MS = 6 * 3_600_000;
const MAX_PLACE_LENGTH = 16_384;

interface Question {
  readonly method?: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** A credential in the request, to be redacted if the vendor repeats it. */
  readonly secret: string;
}

/** The vendor's error message for administrators, truncated and without the secret that was sent. */
function wordsOf(body: unknown, secret: string): string {
  const { error, message, error_description: described } = isObject(body) ? body : {};
  const vendorMessage = isObject(error) ? error.message : (described ?? message ?? error);
  return typeof vendorMessage === "string" ? `: ${vendorMessage.replaceAll(secret, "…").slice(0, 200)}` : "";
}

/** Sends a request and returns the JSON object of the answer; throws a `UsageRefused` for anything else. */
export async function askVendor(outbound: Outbound, url: string, question: Question): Promise<JsonObject> {
  const { method = "GET", headers, body, secret } = question;
  const abort = new AbortController();
  const late = setTimeout(() => abort.abort(new Error("late")), VENDOR_TIMEOUT_MS);
  try {
    const sent = { accept: "application/json", "user-agent": "gatehouse", ...headers };
    const given = body === undefined ? {} : { body };
    const response = await outbound.fetch(url, { method, headers: sent, ...given, abort, timeoutMs: VENDOR_TIMEOUT_MS });
    const bytes = await readUpTo(response.body, MAX_BYTES, abort.signal);
    if (bytes === null) throw new UsageRefused("The vendor's answer has more than 32 MiB.", { passing: false });
    const value = parsed(Buffer.from(bytes).toString("utf8"));
    const { status } = response;
    if (status === 200 && isObject(value)) return value;
    const passing = status === 200 || status === 408 || status === 429 || status >= 500;
    throw new UsageRefused(
      status === 200 ? "The vendor's answer broke off or is no JSON object." : `The vendor answered ${status}${wordsOf(value, secret)}`,
      { passing, status, retryAfterMs: msOfRetryAfter(response.headers, Date.now(), MAX_WAIT_MS) },
    );
  } catch (error) {
    if (error instanceof UsageRefused) throw error;
    if (error instanceof OutboundDenied)
      throw new UsageRefused("The vendor's address is not allowed from this gateway.", { passing: false });
    throw new UsageRefused(
      abort.signal.aborted ? "The vendor did not answer in time." : `The vendor could not be reached${codedReason(error)}.`,
      { passing: true },
    );
  } finally {
    clearTimeout(late);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export const textOr = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? storableText(value.slice(0, 500)) : null;

/** The next page's cursor. Throws if it is missing, too long or the current one; a truncated cursor could restart the list endlessly. */
export function nextPlace(value: unknown, currentPlace: string | null): string {
  if (typeof value !== "string" || value === "")
    throw new UsageRefused("The vendor says that there is more, and not where.", { passing: true });
  if (value.length > MAX_PLACE_LENGTH) throw new UsageRefused("The vendor names the next page by too long a text.", { passing: false });
  if (value === currentPlace) throw new UsageRefused("The vendor's next page is the one that was asked for.", { passing: false });
  return value;
}

/** A count, or null if it is not one. */
export const countOr = (value: unknown): number | null =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;

export const objectList = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** The sum of the values that are counts; null if none is. */
export function sumOf(...values: unknown[]): number | null {
  const counts = values.map(countOr).filter((count) => count !== null);
  return counts.length === 0 ? null : counts.reduce((all, one) => all + one, 0);
}
