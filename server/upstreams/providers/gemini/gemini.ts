import type { Outbound } from "../../../runtime/outbound.ts";
import type { Provider, ProviderTarget } from "../provider.ts";
import type { ProviderOperation } from "../../../wire/operation.ts";
import { operationNotServed, outboundHeaders, pathSegment, send, withoutSlash } from "../send.ts";
import { geminiTraits } from "./traits.ts";

/** Google's Gemini API, with its own key. */
export function geminiProvider(outbound: Outbound): Provider {
  return {
    traits: geminiTraits,
    url,
    async send(target, request) {
      const { operation, stream } = request;
      if (geminiMethod(operation, stream) === null) return operationNotServed(target, operation);
      // Never in the query, where addresses are logged.
      const headers = outboundHeaders(target, request, target.apiKey === null ? {} : { "x-goog-api-key": target.apiKey });
      return send(
        outbound,
        { url: url(target, operation, stream), headers, body: request.body, requestIdHeaders: ["x-request-id", "x-goog-request-id"] },
        request,
      );
    },
  };
}

/** The method behind the model's name; null for what this format does not have. */
export function geminiMethod(operation: ProviderOperation, stream: boolean): string | null {
  switch (operation) {
    case "gemini":
      return stream ? ":streamGenerateContent?alt=sse" : ":generateContent";
    case "gemini_array":
      return ":streamGenerateContent";
    case "gemini_count":
      return ":countTokens";
    case "gemini_embed":
      return ":batchEmbedContents";
    default:
      return null;
  }
}

function url(target: ProviderTarget, operation: ProviderOperation, stream: boolean): string {
  const base = withoutSlash(target.baseUrl);
  const versioned = /\/v\d\w*$/.test(base) ? base : `${base}/v1beta`;
  // A tuned model's name says itself that it is one.
  const name = /^(?:models|tunedModels)\//.test(target.modelName) ? target.modelName : `models/${target.modelName}`;
  return `${versioned}/${name.split("/").map(pathSegment).join("/")}${geminiMethod(operation, stream) ?? ""}`;
}
