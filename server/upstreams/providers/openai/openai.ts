import type { Outbound } from "../../../runtime/outbound.ts";
import type { Provider, ProviderTarget } from "../provider.ts";
import type { ProviderOperation } from "../../../wire/operation.ts";
import { ask, operationNotServed, outboundHeaders, send, withoutSlash } from "../send.ts";
import { openaiTraits } from "./traits.ts";

/** Paths of OpenAI's API under its version segment. */
export const OPENAI_PATHS: Readonly<Partial<Record<ProviderOperation, string>>> = {
  chat: "/chat/completions",
  responses: "/responses",
  completions: "/completions",
  embeddings: "/embeddings",
  images: "/images/generations",
  image_edits: "/images/edits",
  speech: "/audio/speech",
  transcriptions: "/audio/transcriptions",
  translations: "/audio/translations",
  moderations: "/moderations",
  videos: "/videos",
};

/** Any server that speaks OpenAI's API: the vendor itself, vLLM, Ollama, Groq, Mistral and the rest. */
export function openaiProvider(outbound: Outbound): Provider {
  const url = (target: ProviderTarget, operation: ProviderOperation) => `${withoutSlash(target.baseUrl)}${OPENAI_PATHS[operation] ?? ""}`;
  return {
    traits: openaiTraits,
    url,
    ask: (target, asked) =>
      ask(
        outbound,
        {
          url: asked.path.startsWith("/") ? `${withoutSlash(target.baseUrl)}${asked.path}` : asked.path,
          base: target.baseUrl,
          headers: target.apiKey === null ? {} : { authorization: `Bearer ${target.apiKey}` },
        },
        target,
        asked,
      ),
    async send(target, request) {
      if (OPENAI_PATHS[request.operation] === undefined) return operationNotServed(target, request.operation);
      const headers = outboundHeaders(target, request, target.apiKey === null ? {} : { authorization: `Bearer ${target.apiKey}` });
      return send(
        outbound,
        { url: url(target, request.operation), headers, body: request.form ?? request.body, requestIdHeaders: ["x-request-id"] },
        request,
      );
    },
  };
}
