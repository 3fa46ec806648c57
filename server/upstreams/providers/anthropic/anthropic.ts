import type { Outbound } from "../../../runtime/outbound.ts";
import type { Provider, ProviderTarget } from "../provider.ts";
import { MESSAGES_VERSION } from "../../../wire/messages/messages-version.ts";
import type { ProviderOperation } from "../../../wire/operation.ts";
import { operationNotServed, outboundHeaders, send, withoutSlash } from "../send.ts";
import { anthropicTraits } from "./traits.ts";

const PATHS: Readonly<Partial<Record<ProviderOperation, string>>> = { messages: "/messages", count_tokens: "/messages/count_tokens" };

/** Anthropic's Messages API, from the vendor or any compatible server. */
export function anthropicProvider(outbound: Outbound): Provider {
  return {
    traits: anthropicTraits,
    url,
    async send(target, request) {
      if (PATHS[request.operation] === undefined) return operationNotServed(target, request.operation);
      const headers = outboundHeaders(target, request, target.apiKey === null ? {} : { "x-api-key": target.apiKey });
      headers["anthropic-version"] ??= MESSAGES_VERSION;
      return send(
        outbound,
        {
          url: addressWithQuery(url(target, request.operation), request.query),
          headers,
          body: request.body,
          requestIdHeaders: ["request-id", "x-request-id"],
        },
        request,
      );
    },
  };
}

function addressWithQuery(address: string, query: string | undefined): string {
  return query === undefined || query === "" ? address : `${address}?${query}`;
}

function url(target: ProviderTarget, operation: ProviderOperation): string {
  return anthropicAddress(target, PATHS[operation] ?? "");
}

/** The URL of a path below the version segment. */
export function anthropicAddress(target: ProviderTarget, path: string): string {
  const base = withoutSlash(target.baseUrl);
  return `${base.endsWith("/v1") ? base : `${base}/v1`}${path}`;
}
