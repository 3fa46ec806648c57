import type { Outbound } from "../../../runtime/outbound.ts";
import type { Provider, ProviderTarget } from "../provider.ts";
import { operationNotServed, outboundHeaders, send, withoutSlash } from "../send.ts";
import { azureSpeechTraits } from "./traits.ts";

const PATH = "/cognitiveservices/v1";

/** Azure's Speech service: text to speech, at a region's host or a resource's. */
export function azureSpeechProvider(outbound: Outbound): Provider {
  return {
    traits: azureSpeechTraits,
    url,
    async send(target, request) {
      if (request.operation !== "azure_speech") return operationNotServed(target, request.operation);
      const headers = outboundHeaders(target, request, {
        "content-type": "application/ssml+xml",
        accept: "*/*",
        ...(target.apiKey !== null && { "ocp-apim-subscription-key": target.apiKey }),
      });
      return send(
        outbound,
        { url: url(target), headers, body: request.body, requestIdHeaders: ["x-requestid", "apim-request-id", "x-ms-request-id"] },
        request,
      );
    },
  };
}

/** base_url is the host or the whole URL. */
function url({ baseUrl }: ProviderTarget): string {
  const base = withoutSlash(baseUrl);
  return base.endsWith(PATH) ? base : `${base}${PATH}`;
}
