import { isNamed } from "@gatehouse/contracts/passed-headers";
import type { ModelEntry } from "../../directory/snapshot.ts";
import type { Call } from "../../road/call.ts";

/** Vendor headers that are useful to a caller; most others are about the gateway's own account. */
const USEFUL: ReadonlySet<string> = new Set([
  "content-type",
  "retry-after",
  "retry-after-ms",
  "x-should-retry",
  "openai-processing-ms",
  "openai-version",
]);
const RATES = /^(?:anthropic|x)-ratelimit-/;
/** Longer than any vendor's value; clients or proxies in between may reject longer ones. */
const MAX_LENGTH = 2_000;
/** Retry hints that clients act on: with an invalid value, some would wait for years. */
const HINTS: Readonly<Record<string, RegExp>> = {
  "retry-after": /^(?:\d{1,6}(?:\.\d{1,6})?|[A-Za-z]{3,9},? [\w :+-]{10,40})$/,
  "retry-after-ms": /^\d{1,9}(?:\.\d{1,6})?$/,
  "x-should-retry": /^(?:true|false)$/,
};

/** Whether a header of a provider's answer may be forwarded unchanged. */
export function isValidHeader(name: string, value: string): boolean {
  return value.length <= MAX_LENGTH && (Object.hasOwn(HINTS, name) ? (HINTS[name] as RegExp).test(value) : true);
}

/** The headers of a provider's answer that the caller gets. */
export function returnedHeaders(answered: Headers, { provider }: Pick<ModelEntry, "provider">): Record<string, string> {
  const { passResponseHeaders: more = [] } = provider;
  const headers: Record<string, string> = {};
  // In this engine `forEach` takes half the time of iterating over the headers.
  answered.forEach((value, name) => {
    if ((USEFUL.has(name) || RATES.test(name) || (more.length > 0 && isNamed(more, name))) && isValidHeader(name, value))
      headers[name] = value;
  });
  return headers;
}

/** The caller's headers that an administrator allows to be sent to the provider. */
export function forwardedHeaders(call: Pick<Call, "headers">, { provider }: Pick<ModelEntry, "provider">): Record<string, string> {
  const { passRequestHeaders: names = [] } = provider;
  if (names.length === 0) return {};
  return Object.fromEntries(Object.entries(call.headers.all).filter(([name, value]) => value.length <= MAX_LENGTH && isNamed(names, name)));
}
