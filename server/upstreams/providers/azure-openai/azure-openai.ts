import type { Outbound } from "../../../runtime/outbound.ts";
import { OPENAI_PATHS, openaiPath } from "../openai/openai.ts";
import type { Provider, ProviderTarget } from "../provider.ts";
import type { ProviderOperation } from "../../../wire/operation.ts";
import { ask, operationNotServed, outboundHeaders, send, withoutSlash } from "../send.ts";
import { azureOpenaiTraits } from "./traits.ts";

/** The last dated version of the API; newer URLs need no version. */
const LAST_DATED_VERSION = "2024-10-21";

/** OpenAI models on Azure: the same bodies, with a deployment's name as the model. */
export function azureOpenaiProvider(outbound: Outbound): Provider {
  return {
    traits: azureOpenaiTraits,
    url,
    ask: (target, providerRequest) =>
      ask(
        outbound,
        {
          url: providerRequest.path.startsWith("/") ? addressOf(target, providerRequest.path) : providerRequest.path,
          base: target.baseUrl,
          headers: target.apiKey === null ? {} : { "api-key": target.apiKey },
        },
        target,
        providerRequest,
      ),
    async send(target, request) {
      if (OPENAI_PATHS[request.operation] === undefined) return operationNotServed(target, request.operation);
      const headers = outboundHeaders(target, request, target.apiKey === null ? {} : { "api-key": target.apiKey });
      return send(
        outbound,
        {
          url: url(target, request.operation, request.stream, request.of),
          headers,
          body: request.form ?? request.body,
          requestIdHeaders: ["apim-request-id", "x-request-id", "x-ms-request-id"],
        },
        request,
      );
    },
  };
}

function url(target: ProviderTarget, operation: ProviderOperation, _stream: boolean, of?: string): string {
  return addressOf(target, openaiPath(operation, of));
}

/** A base_url with a deployment uses the dated API: `…/openai/deployments/{name}`, with or without `?api-version=`. */
function addressOf(target: ProviderTarget, path: string): string {
  const [address = "", query] = target.baseUrl.split("?", 2);
  const base = withoutSlash(address);
  if (base.includes("/deployments/"))
    return `${base}${path}${path.includes("?") ? "&" : "?"}${query ?? `api-version=${LAST_DATED_VERSION}`}`;
  const version = query === undefined ? "" : `${path.includes("?") ? "&" : "?"}${query}`;
  if (base.endsWith("/openai/v1")) return `${base}${path}${version}`;
  return `${base.replace(/\/openai$/, "")}/openai/v1${path}${version}`;
}
