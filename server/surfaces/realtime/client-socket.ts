import { randomBytes } from "node:crypto";
import type { JsonObject } from "../../kernel/json-value.ts";
import type { MessageSocket } from "../../kernel/http/message-socket.ts";

/** A client with so much unread is waited for. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;

/** The client's end of a session. */
export class ClientSocket {
  isClosed = false;
  private readonly socket: MessageSocket;
  private roomMade: (() => void) | null = null;

  constructor(socket: MessageSocket) {
    this.socket = socket;
  }

  tell(event: JsonObject): void {
    if (this.isClosed) return;
    this.socket.send(JSON.stringify({ event_id: `event_${randomBytes(10).toString("hex")}`, ...event }));
  }

  /** Waits while the client has too much unread. */
  async room(): Promise<void> {
    while (!this.isClosed && this.socket.queuedBytes > MAX_UNREAD_BYTES) await new Promise<void>((resolve) => (this.roomMade = resolve));
  }

  drained(): void {
    this.roomMade?.();
  }

  /** Notes that nothing can be sent any more. */
  gone(): void {
    this.isClosed = true;
    this.roomMade?.();
  }

  close(code: number, reason: string): void {
    this.gone();
    this.socket.close(code, reason);
  }
}
