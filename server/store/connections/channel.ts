import pg from "pg";
import type { Log } from "../../kernel/log.ts";
import type { DatabaseConnection } from "../database.ts";
import { streamOf } from "./silent-connections.ts";

const RECONNECT_MS = 1_000;
/** A connection that only listens never notices that its peer is gone unless it sends something. */
const ASK_EVERY_MS = 5_000;
const ANSWER_WITHIN_MS = 5_000;

export interface ChannelListener {
  received(payload: string): void;
  /** Called when listening begins. `again`: notifications may have been missed since the last connection. */
  connected(again: boolean): void;
}

/** Listens on a notification channel of the database, over a connection of its own that is reopened whenever it is lost. */
export class Channel {
  private client: pg.Client | null = null;
  private stopped = false;
  private began = false;
  private readonly connection: DatabaseConnection;
  private readonly name: string;
  private readonly listener: ChannelListener;
  private readonly log: Log;

  constructor(connection: DatabaseConnection, name: string, hearer: ChannelListener, log: Log) {
    this.connection = connection;
    this.name = name;
    this.listener = hearer;
    this.log = log;
  }

  /** Resolves once it listens, or will retry. */
  async start(): Promise<void> {
    if (this.stopped) return;
    const again = this.began;
    this.began = true;
    const client = new pg.Client(this.connection.connectionConfig);
    const lost = (error?: Error) => {
      if (this.client !== client) return;
      this.client = null;
      if (this.stopped) return;
      this.log.warn("database_channel_lost", { channel: this.name, error });
      setTimeout(() => void this.start(), RECONNECT_MS).unref();
    };
    this.client = client;
    client.on("notification", ({ payload }) => this.listen(payload ?? ""));
    client.on("error", lost);
    client.on("end", () => lost());
    try {
      await client.connect();
      await client.query(`LISTEN ${this.name}`);
      this.listener.connected(again);
      this.askAgain(client, lost);
    } catch (error) {
      lost(error as Error);
      await client.end().catch(() => undefined);
    }
  }

  private askAgain(client: pg.Client, lost: (error: Error) => void): void {
    const timer = setTimeout(() => {
      if (this.client !== client || this.stopped) return;
      client.query({ text: "SELECT 1", query_timeout: ANSWER_WITHIN_MS } as pg.QueryConfig).then(
        () => this.askAgain(client, lost),
        (error: Error) => {
          lost(error);
          streamOf(client).destroy();
        },
      );
    }, ASK_EVERY_MS);
    timer.unref();
  }

  /** A payload that this version cannot read is skipped. */
  private listen(payload: string): void {
    try {
      this.listener.received(payload);
    } catch (error) {
      this.log.warn("database_notice_unread", { channel: this.name, error: error as Error });
    }
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.client?.end().catch(() => undefined);
  }
}
