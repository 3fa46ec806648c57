import type { MessageListener, MessageSocket, SocketUpgrade } from "../kernel/http/message-socket.ts";

/** The longest message that a client may send; a longer one closes its connection with code 1009. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** A client that takes nothing any more is disconnected when this much waits for it. */
const MAX_QUEUED_BYTES = 64 * 1024 * 1024;
/** A peer that answers no ping for so long is gone. */
const IDLE_SECONDS = 60;

export interface SocketData {
  readonly upgrade: SocketUpgrade;
  listener: MessageListener | null;
}

/** Bun's handlers for the WebSockets of a server. */
export const servedSockets: Bun.WebSocketHandler<SocketData> = {
  maxPayloadLength: MAX_MESSAGE_BYTES,
  backpressureLimit: MAX_QUEUED_BYTES,
  closeOnBackpressureLimit: true,
  idleTimeout: IDLE_SECONDS,
  sendPings: true,
  perMessageDeflate: false,
  open(socket) {
    socket.data.listener = socket.data.upgrade.opened(served(socket));
  },
  message(socket, message) {
    socket.data.listener?.message(typeof message === "string" ? message : null);
  },
  drain(socket) {
    socket.data.listener?.drained();
  },
  close(socket, code) {
    socket.data.listener?.closed(code);
  },
};

function served(socket: Bun.ServerWebSocket<SocketData>): MessageSocket {
  return {
    send: (text) => void socket.send(text),
    get queuedBytes() {
      return socket.getBufferedAmount();
    },
    close: (code, reason) => socket.close(code, reason),
  };
}
