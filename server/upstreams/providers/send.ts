import type { OutboundBytes } from "../../kernel/http/outbound-bytes.ts";
import { reasonOf, type Refusal, refuse } from "../../kernel/errors.ts";
import { OutboundDenied } from "../../runtime/destinations.ts";
import { isUnreadable, type Outbound, OutboundTimeout, wasConnected } from "../../runtime/outbound.ts";
import type { JobQuestion, ProviderReply, ProviderRequest, ProviderTarget } from "./provider.ts";
import { redactSecrets } from "../redact-secrets.ts";
import { secretsOf } from "../request-secrets.ts";
import type { ProviderOperation } from "../../wire/operation.ts";

/**
 * Headers of a request, in lower case: the provider record's override the caller's, and the gateway's override both. `own`: the vendor's
 * headers, including the credential.
 */
export function outboundHeaders(
  target: ProviderTarget,
  request: ProviderRequest,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const headers: Record<string, string> = {};
  // In lower case, so that each name occurs only once.
  for (const name in request.headers) headers[name.toLowerCase()] = request.headers[name] as string;
  for (const name in target.headers) headers[name.toLowerCase()] = target.headers[name] as string;
  const { form } = request;
  headers["content-type"] = form?.contentType ?? "application/json";
  // Without it the body would be sent chunked, which some servers refuse.
  if (form !== undefined) headers["content-length"] = String(form.length);
  headers.accept = request.operation === "speech" ? "*/*" : request.stream ? "text/event-stream" : "application/json";
  // The answer is passed on as bytes, so compression would only have to be undone.
  headers["accept-encoding"] = "identity";
  headers["user-agent"] = "gatehouse";
  for (const name in own) headers[name.toLowerCase()] = own[name] as string;
  return headers;
}

export interface OutgoingRequest {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | OutboundBytes;
  /** Response headers that may contain the vendor's request ID, best first. */
  readonly requestIdHeaders: readonly string[];
}

/** Sends one request to the vendor; network errors become a refusal. */
export async function send(
  outbound: Outbound,
  { url, headers, body, requestIdHeaders }: OutgoingRequest,
  { abort, timeoutMs, departed }: Pick<ProviderRequest, "abort" | "timeoutMs" | "departed">,
): Promise<ProviderReply | Refusal> {
  try {
    const sent = { method: "POST", headers, body, abort, timeoutMs, ...(departed && { departed }) };
    const response = redactSecrets(await outbound.fetch(url, sent), secretsOf(headers));
    return { response, requestId: requestIdOf(response, requestIdHeaders) };
  } catch (error) {
    return outboundRefusal(error);
  }
}

/**
 * Sends a request about a job. The credential is sent only to the origin of `base`, because a URL from a provider's answer may lead
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

/** The refusal for a request without an answer. */
export function outboundRefusal(error: unknown): Refusal {
  if (error instanceof OutboundTimeout) return refuse("upstream_timeout");
  if (error instanceof OutboundDenied) return refuse("upstream_address_denied");
  const reason = reasonOf(error);
  if (wasConnected(error)) return refuse("upstream_interrupted", "The model provider ended the connection before it answered.", { reason });
  if (isUnreadable(error)) return refuse("upstream_invalid_response", undefined, { reason });
  return refuse("upstream_unreachable", undefined, { reason });
}

/** The provider's format has no such operation: the model is configured with a mode that it does not serve. */
export function operationNotServed(target: ProviderTarget, operation: ProviderOperation): Refusal {
  return refuse("model_mode_mismatch", undefined, { reason: `a provider of format ${target.apiFormat} has no operation ${operation}` });
}

/** Encodes a path segment as the strictest vendor requires, including characters that `encodeURIComponent` keeps. */
export function pathSegment(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

export function withoutSlash(baseUrl: string): string {
  return baseUrl.replace(/\/+$/, "");
}
