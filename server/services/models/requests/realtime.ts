import { isRefusal, type Refusal, refuse } from "../../../kernel/errors.ts";
import type { MessageListener, MessageSocket } from "../../../kernel/http/message-socket.ts";
import { estimated } from "../../../road/metering/stream-usage.ts";
import type { Provider, ProviderReply, ProviderRequest, ProviderTarget } from "../../../upstreams/providers/provider.ts";
import { RealtimeStream } from "../../../wire/realtime/realtime-stream.ts";
import type { ResponsesRequest } from "../../../wire/responses/responses-request.ts";
import { audioOf, CHARACTERS_PER_TOKEN } from "../../../wire/usage.ts";
import { NOTHING_SENT } from "../../../wire/sent-settings.ts";
import type { FailoverParts } from "../routing/failover.ts";
import { outboundChanges } from "./conversation.ts";
import type { ModelRequest } from "./model-request.ts";

/** The opening of a connection that lasts longer than the call. */
export interface Connecting {
  readonly listener: MessageListener;
  connected(socket: MessageSocket): void;
}

/** One response of the model at the other end of an open connection. */
export interface AskedResponse {
  readonly inbound: ResponsesRequest;
  /** Length of the conversation that the provider keeps, in characters. */
  readonly earlierCharacters: number;
  /** The most tokens of the caller's audio that it answers. */
  readonly heardTokens: number;
  /** Sends the governed request and returns the response's events as server-sent events; null if the connection is closed. */
  ask(body: string): ReadableStream<Uint8Array> | null;
}

const OPENED = new TextEncoder().encode("{}");
const NOT_SERVED = "The model's provider has no Realtime API that the gateway speaks.";

export function connectRequest(): ModelRequest {
  return {
    inputCharacters: 0,
    prepare: () => ({
      ...{ operation: "realtime", body: "", sent: NOTHING_SENT, stream: false, headers: {}, dropped: [] },
      streamCodec: () => null,
      streamType: null,
      whole: () => ({ body: OPENED, usage: null, outputCharacters: 0, meteredLater: true }),
      refusal: () => null,
    }),
  };
}

export function responseRequest({ inbound, earlierCharacters, heardTokens }: AskedResponse): ModelRequest {
  const inputCharacters = inbound.inputCharacters + earlierCharacters + heardTokens * CHARACTERS_PER_TOKEN;
  return {
    inputCharacters,
    usageOfSending: () => ({ ...estimated(inputCharacters, 0), ...audioOf(heardTokens, 0) }),
    prepare(_call, model) {
      const changes = outboundChanges(model);
      return {
        ...{
          operation: "realtime",
          body: inbound.outbound(changes),
          sent: inbound.sentSettings(changes),
          stream: true,
          headers: {},
          dropped: [],
        },
        streamCodec: () => new RealtimeStream(),
        streamType: null,
        whole: () => null,
        refusal: () => null,
      };
    },
  };
}

/** Failover that opens a connection where it would send a request. */
export function connectingParts({ listener, connected }: Connecting, parts: FailoverParts): FailoverParts {
  return sendingParts(parts, async (provider, target, { operation, abort, timeoutMs, departed }) => {
    if (provider.connect === undefined) return refuse("model_mode_mismatch", NOT_SERVED);
    departed?.();
    const socket = await provider.connect(target, { operation, abort, timeoutMs, listener });
    if (isRefusal(socket)) return socket;
    if (socket instanceof Response) return { response: socket, requestId: null };
    connected(socket);
    return { response: new Response("{}", { headers: { "content-type": "application/json" } }), requestId: null };
  });
}

/** Failover that sends over the open connection. */
export function askingParts({ ask }: AskedResponse, parts: FailoverParts): FailoverParts {
  return sendingParts(parts, (_provider, _target, { body, departed }) => {
    const events = ask(body);
    if (events === null) return Promise.resolve(refuse("upstream_unreachable", "The connection to the model was closed."));
    departed?.();
    return Promise.resolve({ response: new Response(events, { headers: { "content-type": "text/event-stream" } }), requestId: null });
  });
}

type Send = (provider: Provider, target: ProviderTarget, request: ProviderRequest) => Promise<ProviderReply | Refusal>;

function sendingParts(parts: FailoverParts, send: Send): FailoverParts {
  const providers = Object.entries(parts.providers).map(([format, provider]) => [
    format,
    { ...provider, send: (target: ProviderTarget, request: ProviderRequest) => send(provider, target, request) },
  ]);
  return { ...parts, providers: Object.fromEntries(providers) };
}
