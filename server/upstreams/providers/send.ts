import type { OutboundBytes } from "../../kernel/outbound-bytes.ts";
import { reasonOf, type Refusal, refuse } from "../../kernel/errors.ts";
import { type Outbound, OutboundDenied, OutboundTimeout, wasConnected } from "../../runtime/outbound.ts";
import type { JobQuestion, ProviderReply, ProviderRequest, ProviderTarget, Unanswered } from "./provider.ts";
import { redactSecrets } from "../redact-secrets.ts";
import { secretsOf } from "../request-secrets.ts";
import type { ProviderOperation } from "../../wire/operation.ts";

/**
 * Headers of a call: the provider record's over the caller's, and what the gateway has to say itself over both. `own`
 * are the vendor's, its credential among them. Names are in lower case.
 */
export function outboundHeaders(
  target: ProviderTarget,
  request: ProviderRequest,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const headers: Record<string, string> = {};
  // Lower case, so that each of them stands once whoever wrote it how.
  for (const name in request.headers) headers[name.toLowerCase()] = request.headers[name] as string;
  for (const name in target.headers) headers[name.toLowerCase()] = target.headers[name] as string;
  const { form } = request;
  headers["content-type"] = form?.contentType ?? "application/json";
  // Without it the body would go out in chunks, which some servers refuse.
  if (form !== undefined) headers["content-length"] = String(form.length);
  headers.accept = request.operation === "speech" ? "*/*" : request.stream ? "text/event-stream" : "application/json";
  // The answer is read and passed on as bytes; packing it would only have to be undone.
  headers["accept-encoding"] = "identity";
  headers["user-agent"] = "gatehouse";
  for (const name in own) headers[name.toLowerCase()] = own[name] as string;
  return headers;
}

export interface OutgoingRequest {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | OutboundBytes;
  /** Where the vendor writes its own id of the request, best first. */
  readonly requestIdHeaders: readonly string[];
}

/** Asks the vendor once; what the network did becomes a refusal. */
export async function send(
  outbound: Outbound,
  { url, headers, body, requestIdHeaders }: OutgoingRequest,
  { abort, timeoutMs }: Pick<ProviderRequest, "abort" | "timeoutMs">,
): Promise<ProviderReply | Unanswered> {
  try {
    const response = redactSecrets(await outbound.fetch(url, { method: "POST", headers, body, abort, timeoutMs }), secretsOf(headers));
    return { response, requestId: requestIdOf(response, requestIdHeaders) };
  } catch (error) {
    return { ...outboundRefusal(error), ...(wasConnected(error) && { connected: true }) };
  }
}

/**
 * Asks about a job. The credential goes to the host of `base` and to no other: what a provider gives as an address may lead
 * anywhere.
 */
export async function ask(
  outbound: Outbound,
  { url, base, headers }: { readonly url: string; readonly base: string; readonly headers: Readonly<Record<string, string>> },
  target: ProviderTarget,
  { method, body, abort, timeoutMs }: JobQuestion,
): Promise<ProviderReply | Refusal> {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return refuse("upstream_invalid_response", undefined, { reason: "no address" });
  const own = new URL(url).origin === new URL(base).origin;
  const all: Record<string, string> = {};
  if (own) for (const name in target.headers) all[name.toLowerCase()] = target.headers[name] as string;
  Object.assign(all, { accept: "*/*", "accept-encoding": "identity", "user-agent": "gatehouse" });
  if (body !== undefined) all["content-type"] = "application/json";
  if (own) Object.assign(all, headers);
  try {
    const sent = { method, headers: all, ...(body !== undefined && { body }), abort, timeoutMs };
    const answered = await outbound.fetch(url, sent);
    return { response: own ? redactSecrets(answered, secretsOf(all)) : answered, requestId: null };
  } catch (error) {
    return outboundRefusal(error);
  }
}

function requestIdOf({ headers }: Response, names: readonly string[]): string | null {
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null) return value;
  }
  return null;
}

/** The refusal for a call that got no answer. */
export function outboundRefusal(error: unknown): Refusal {
  if (error instanceof OutboundTimeout) return refuse("upstream_timeout");
  if (error instanceof OutboundDenied) return refuse("upstream_address_denied");
  return refuse("upstream_unreachable", undefined, { reason: reasonOf(error) });
}

/** The provider's format has no such operation: the model is configured with a mode it does not serve. */
export function operationNotServed(target: ProviderTarget, operation: ProviderOperation): Refusal {
  return refuse("model_mode_mismatch", undefined, { reason: `a provider of format ${target.apiFormat} has no operation ${operation}` });
}

/** One segment of a path, as strict as the strictest vendor is: also what `encodeURIComponent` leaves alone is encoded. */
export function pathSegment(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

export function withoutSlash(baseUrl: string): string {
  return baseUrl.replace(/\/+$/, "");
}
