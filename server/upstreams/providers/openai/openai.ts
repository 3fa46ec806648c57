import type { Outbound } from "../../../runtime/outbound.ts";
import { HandshakeRefused, type OutboundSockets, outboundSockets } from "../../../runtime/outbound-socket.ts";
import type { Provider, ProviderTarget } from "../provider.ts";
import { refuse } from "../../../kernel/errors.ts";
import type { MessageListener } from "../../../kernel/http/message-socket.ts";
import { redactedText } from "../../redact-secrets.ts";
import { secretsOf } from "../../request-secrets.ts";
import type { ProviderOperation } from "../../../wire/operation.ts";
import { ask, operationNotServed, outboundHeaders, outboundRefusal, pathSegment, send, withoutSlash } from "../send.ts";
import { openaiTraits } from "./traits.ts";

/** Paths of OpenAI's API below the version segment. */
export const OPENAI_PATHS: Readonly<Partial<Record<ProviderOperation, string>>> = {
  chat: "/chat/completions",
  responses: "/responses",
  responses_count: "/responses/input_tokens",
  responses_compact: "/responses/compact",
  completions: "/completions",
  embeddings: "/embeddings",
  images: "/images/generations",
  image_edits: "/images/edits",
  speech: "/audio/speech",
  transcriptions: "/audio/transcriptions",
  translations: "/audio/translations",
  moderations: "/moderations",
  realtime: "/realtime",
  rerank: "/rerank",
  videos: "/videos",
  video_remix: "/videos/{of}/remix",
  video_edits: "/videos/edits",
  video_extensions: "/videos/extensions",
};

/** Path of an operation below the version segment. */
export function openaiPath(operation: ProviderOperation, of = ""): string {
  return (OPENAI_PATHS[operation] ?? "").replace("{of}", () => pathSegment(of));
}

/** Any server with OpenAI's API: the vendor itself, vLLM, Ollama, Groq, Mistral and others. */
export function openaiProvider(outbound: Outbound, sockets: OutboundSockets = outboundSockets({ allowPrivate: false })): Provider {
  const url = (target: ProviderTarget, operation: ProviderOperation, _stream: boolean, of?: string) =>
    `${baseOf(target, operation)}${openaiPath(operation, of)}`;
  return {
    traits: openaiTraits,
    url,
    async connect(target, { operation, abort, timeoutMs, listener }) {
      const address = new URL(url(target, operation, true));
      address.protocol = address.protocol === "http:" ? "ws:" : "wss:";
      address.searchParams.set("model", target.modelName);
      const headers: Record<string, string> = { "user-agent": "gatehouse" };
      for (const name in target.headers) headers[name.toLowerCase()] = target.headers[name] as string;
      if (target.apiKey !== null) headers["authorization"] = `Bearer ${target.apiKey}`;
      const secrets = secretsOf(headers);
      const redacting: MessageListener = {
        message: (text) => listener.message(text === null ? null : redactedText(text, secrets)),
        drained: () => listener.drained(),
        closed: (code) => listener.closed(code),
      };
      try {
        return await sockets.open(address.href, { headers, signal: abort.signal, timeoutMs, listener: redacting });
      } catch (error) {
        if (!(error instanceof HandshakeRefused)) return outboundRefusal(error);
        const { status, message } = error;
        return status < 400
          ? refuse("upstream_invalid_response", undefined, { reason: message })
          : Response.json({ error: { message } }, { status });
      }
    },
    ask: (target, providerRequest) =>
      ask(
        outbound,
        {
          url: providerRequest.path.startsWith("/") ? `${withoutSlash(target.baseUrl)}${providerRequest.path}` : providerRequest.path,
          base: target.baseUrl,
          headers: target.apiKey === null ? {} : { authorization: `Bearer ${target.apiKey}` },
        },
        target,
        providerRequest,
      ),
    async send(target, request) {
      if (OPENAI_PATHS[request.operation] === undefined) return operationNotServed(target, request.operation);
      const headers = outboundHeaders(target, request, target.apiKey === null ? {} : { authorization: `Bearer ${target.apiKey}` });
      return send(
        outbound,
        {
          url: url(target, request.operation, request.stream, request.of),
          headers,
          body: request.form ?? request.body,
          requestIdHeaders: ["x-request-id"],
        },
        request,
      );
    },
  };
}

/** Cohere has an OpenAI-compatible API next to its own; reranking is only in its own. */
function baseOf({ baseUrl }: ProviderTarget, operation: ProviderOperation): string {
  const base = withoutSlash(baseUrl);
  return operation === "rerank" ? base.replace(/\/compatibility\/v1$/, "/v2") : base;
}
