import type { MessageListener, MessageSocket } from "../kernel/http/message-socket.ts";
import { unlessAborted } from "../kernel/scheduling/unless-aborted.ts";
import { AnsweringFirst } from "./answering-first.ts";
import { type AddressChecks, publicDestinations } from "./destinations.ts";
import { OutboundTimeout } from "./outbound.ts";

/** The client for outbound WebSockets, with the same address checks as outbound requests. */
export interface OutboundSockets {
  /** Resolves once the handshake succeeded. Throws `OutboundDenied`, `OutboundTimeout`, `HandshakeRefused`, the abort reason or the network error. */
  open(url: string, init: SocketInit): Promise<MessageSocket>;
}

export interface SocketInit {
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly listener: MessageListener;
}

/** The upstream answered the handshake with another status than 101. */
export class HandshakeRefused extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the handshake was answered with ${status}`);
    this.status = status;
  }
}

/** Bun tells the status only in the message of its error. */
const REFUSED = /Expected 101 status code: (\d{3})/;

interface SocketBounds {
  /** The longest message, in characters; a longer one ends the connection. */
  readonly messageLength: number;
  /** Longest wait for the peer to answer the closing handshake, milliseconds. */
  readonly closingMs: number;
}

const BOUNDS: SocketBounds = { messageLength: 16 * 1024 * 1024, closingMs: 10_000 };

interface ConnectOptions {
  readonly headers: Record<string, string>;
  readonly tls?: { readonly serverName: string };
  readonly perMessageDeflate: boolean;
}

/** Bun's WebSocket, which takes headers and TLS settings and can be cut; its declared type is the browser's. */
type BunSocket = WebSocket & { terminate(): void };
const Connection = WebSocket as unknown as new (url: string, options: ConnectOptions) => BunSocket;

export function outboundSockets(options: AddressChecks & { allowPrivate: boolean }, bounds: SocketBounds = BOUNDS): OutboundSockets {
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
      // Without compression, a message is no longer than what was received.
      const socket = new Connection(to.replace(/^http/i, "ws"), { headers: given, ...tls, perMessageDeflate: false });
      return opened(socket, { listener, signal, timeoutMs }, bounds);
    },
  };
}

function opened(
  socket: BunSocket,
  { listener, signal, timeoutMs }: Omit<SocketInit, "headers">,
  bounds: SocketBounds,
): Promise<MessageSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<MessageSocket>();
  let isOpen = false;
  let cut: ReturnType<typeof setTimeout> | undefined;
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
      close(code, reason) {
        socket.close(code, reason);
        cut ??= setTimeout(() => socket.terminate(), bounds.closingMs);
      },
    });
  });
  socket.addEventListener("message", ({ data }) => {
    if (cut !== undefined) return;
    if (typeof data === "string" && data.length > bounds.messageLength) return socket.terminate();
    listener.message(typeof data === "string" ? data : null);
  });
  socket.addEventListener("error", (event) => {
    settled();
    const { message = "the connection failed" } = event as Event & { message?: string };
    const status = REFUSED.exec(message)?.[1];
    reject(status === undefined ? new Error(message) : new HandshakeRefused(Number(status)));
  });
  socket.addEventListener("close", ({ code }) => {
    settled();
    clearTimeout(cut);
    reject(new Error(`the connection was closed with ${code}`));
    if (isOpen) listener.closed(code);
  });
  return promise;
}
