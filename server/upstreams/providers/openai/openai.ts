import { refuse } from "../../../kernel/errors.ts";
import { type Outbound, OutboundDenied, OutboundTimeout } from "../../../runtime/outbound.ts";
import type { Provider, ProviderTarget } from "../provider.ts";

/** Any server that speaks OpenAI's API: the vendor itself, vLLM, Ollama, Groq, Mistral and the rest. */
export function openaiProvider(outbound: Outbound): Provider {
  const chatUrl = (target: ProviderTarget) => `${target.baseUrl}/chat/completions`;
  return {
    chatUrl,
    async chat(target, request) {
      const headers: Record<string, string> = {
        ...target.headers,
        "content-type": "application/json",
        accept: request.stream ? "text/event-stream" : "application/json",
        // The answer is read and passed on as bytes; packing it would only have to be undone.
        "accept-encoding": "identity",
        "user-agent": "gatehouse",
      };
      if (target.apiKey !== null) headers.authorization = `Bearer ${target.apiKey}`;
      try {
        const response = await outbound.fetch(chatUrl(target), { method: "POST", headers, body: request.body, abort: request.abort, timeoutMs: request.timeoutMs });
        return { response, requestId: response.headers.get("x-request-id") };
      } catch (error) {
        if (error instanceof OutboundTimeout) return refuse("upstream_timeout");
        if (error instanceof OutboundDenied) return refuse("upstream_address_denied");
        return refuse("upstream_unreachable", undefined, { reason: error instanceof Error ? error.message : String(error) });
      }
    },
  };
}
