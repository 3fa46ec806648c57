import { randomBytes } from "node:crypto";
import type { JsonObject } from "../../kernel/json-value.ts";
import type { MessageSocket } from "../../kernel/http/message-socket.ts";

const MOST_NOTED = 1_000;

/** Sends events to the provider, under IDs by which the provider tells of errors. */
export class SentEvents {
  socket: MessageSocket | null = null;
  /** The client's ID of each event under way, by the gateway's own. */
  private readonly clientIds = new Map<string, string | null>();
  /** Events of the gateway's own, about whose failure nobody is told. */
  private readonly quiet = new Set<string>();

  send(event: JsonObject, clientId: string | null = null): string {
    const id = `gw_${randomBytes(10).toString("hex")}`;
    if (this.clientIds.size > MOST_NOTED) this.clientIds.delete(this.clientIds.keys().next().value as string);
    this.clientIds.set(id, clientId);
    this.socket?.send(JSON.stringify({ ...event, event_id: id }));
    return id;
  }

  sendQuietly(event: JsonObject): void {
    if (this.quiet.size > MOST_NOTED) this.quiet.clear();
    this.quiet.add(this.send(event));
  }

  get queuedBytes(): number {
    return this.socket?.queuedBytes ?? 0;
  }

  wasQuiet(id: string): boolean {
    return this.quiet.delete(id);
  }

  clientIdOf(id: string | null): string | null {
    return id === null ? null : (this.clientIds.get(id) ?? null);
  }
}
