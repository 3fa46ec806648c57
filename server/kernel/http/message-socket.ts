/** A WebSocket that carries text messages, on either side. */
export interface MessageSocket {
  send(text: string): void;
  /** Bytes handed to `send` that have not left yet. */
  readonly queuedBytes: number;
  /** Starts the closing handshake; nothing after the first call. */
  close(code: number, reason: string): void;
}

export interface MessageListener {
  /** `null` for a binary message. */
  message(text: string | null): void;
  /** Called when queued bytes have left. */
  drained(): void;
  /** Called exactly once, whoever closed it. */
  closed(code: number): void;
}

/** How a request is answered by a WebSocket instead of a response. */
export interface SocketUpgrade {
  readonly headers: Record<string, string>;
  opened(socket: MessageSocket): MessageListener;
  /** Called instead of `opened` if the client is gone already, or sent no valid handshake. */
  failed(): void;
}

const upgrades = new WeakMap<Response, SocketUpgrade>();

/** A placeholder that stands for the upgrade until the server acts on it. */
export function upgradeResponse(upgrade: SocketUpgrade): Response {
  const response = new Response(null, { status: 204 });
  upgrades.set(response, upgrade);
  return response;
}

export function upgradeOf(response: Response): SocketUpgrade | undefined {
  return upgrades.get(response);
}
