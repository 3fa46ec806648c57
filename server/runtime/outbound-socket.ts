import type { MessageListener, MessageSocket } from "../kernel/http/message-socket.ts";
import { unlessAborted } from "../kernel/scheduling/unless-aborted.ts";
import { AnsweringFirst } from "./answering-first.ts";
import { type AddressChecks, publicDestinations } from "./destinations.ts";
import { OutboundTimeout } from "./outbound.ts";

/** The client for outbound WebSockets, with the same address checks as outbound requests. */
export interface OutboundSockets {
  /** Resolves once the handshake succeeded. Throws `OutboundDenied`, `OutboundTimeout`, the abort reason or the network error. */
  open(url: string, init: SocketInit): Promise<MessageSocket>;
}

export interface SocketInit {
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly listener: MessageListener;
}

/** Bun's constructor, which takes headers and TLS settings; its declared type is the browser's. */
type Connect = new (url: string, options: { headers: Record<string, string>; tls?: { readonly serverName: string } }) => WebSocket;
const Connection = WebSocket as unknown as Connect;

export function outboundSockets(options: AddressChecks & { allowPrivate: boolean }): OutboundSockets {
  const answering = new AnsweringFirst();
  return {
    async open(url, { headers, signal, timeoutMs, listener }) {
      const httpUrl = url.replace(/^ws/i, "http");
      const [destination] = options.allowPrivate
        ? [{ url: httpUrl, headers }]
        : await unlessAborted(publicDestinations(httpUrl, headers, options, answering), signal);
      if (destination === undefined) throw new Error("a connection had nowhere to go");
      const { url: to, headers: named, ...rest } = destination;
      const tls = "tls" in rest && rest.tls !== undefined ? { tls: rest.tls } : {};
      const given = Object.fromEntries(named instanceof Headers ? named : Object.entries(named));
      return opened(new Connection(to.replace(/^http/i, "ws"), { headers: given, ...tls }), listener, signal, timeoutMs);
    },
  };
}

function opened(socket: WebSocket, listener: MessageListener, signal: AbortSignal, timeoutMs: number): Promise<MessageSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<MessageSocket>();
  let isOpen = false;
  const give = (error: unknown) => {
    reject(error);
    socket.close();
  };
  const aborted = () => give(signal.reason);
  const timer = setTimeout(() => give(new OutboundTimeout(`no handshake within ${timeoutMs} ms`)), timeoutMs);
  const settled = () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", aborted);
  };
  if (signal.aborted) aborted();
  else signal.addEventListener("abort", aborted, { once: true });
  socket.addEventListener("open", () => {
    isOpen = true;
    settled();
    resolve({
      send: (text) => socket.send(text),
      get queuedBytes() {
        return socket.bufferedAmount;
      },
      close: (code, reason) => socket.close(code, reason),
    });
  });
  socket.addEventListener("message", ({ data }) => listener.message(typeof data === "string" ? data : null));
  socket.addEventListener("error", (event) => {
    settled();
    reject(new Error((event as Event & { message?: string }).message ?? "the connection failed"));
  });
  socket.addEventListener("close", ({ code }) => {
    settled();
    reject(new Error(`the connection was closed with ${code}`));
    if (isOpen) listener.closed(code);
  });
  return promise;
}
