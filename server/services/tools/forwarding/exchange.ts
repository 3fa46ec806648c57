import type { JsonObject } from "../../../kernel/json-value.ts";
import type { RpcId } from "../../../wire/mcp/rpc.ts";
import type { ResourceSubscriptions } from "../changes/resource-subscriptions.ts";
import type { UpstreamMessage } from "./upstream-messages.ts";

/**
 * A session with a handshake server. It belongs to one caller session, or is shared by calls without sessions of one principal with the
 * same capabilities.
 */
export interface PooledSession {
  readonly key: string;
  readonly url: string;
  /** Headers with which the session was begun. */
  readonly headers: Readonly<Record<string, string>>;
  readonly id: string | null;
  readonly version: string;
  readonly serverInfo: JsonObject | null;
  readonly capabilities: JsonObject;
  readonly instructions: string | null;
  nextId: number;
  /** When it was last used, in milliseconds of the process's monotonic clock. */
  usedAt: number;
  /** The log level last set; null if none. */
  logLevel: string | null;
  /** The server no longer knows the session. */
  over: boolean;
  /** The server offers no notification stream. */
  feedless: boolean;
  /** Requests in progress by ID, oldest first. They receive the server's requests in this session and their own progress. */
  readonly exchanges: Map<number, (message: UpstreamMessage) => void>;
  readonly subscriptions: ResourceSubscriptions;
}

/** A request sent to a tool server, and the messages that come back. */
export interface Asked {
  readonly messages: AsyncGenerator<UpstreamMessage, void>;
  /** The request ID as known to the server. */
  readonly id: RpcId;
  readonly session: PooledSession | null;
  /** From the session's handshake; null for a stateless server. */
  readonly serverInfo: JsonObject | null;
  readonly abort: AbortController;
  /** Lets the exchange outlive its call. */
  detach(): void;
  /** Ends the exchange. */
  end(): void;
  /** Sends a response to a request of the server. Never rejects: a broken exchange just yields no more messages. */
  respond(text: string): Promise<void>;
}

/** An exchange with a handshake server that is held while its stateless caller is asked for input. */
export interface HeldExchange {
  readonly asked: Asked;
  readonly tenantId: string;
  readonly timer: ReturnType<typeof setTimeout>;
  /** Stops listening for another process that continues it. */
  readonly alone: () => void;
}

/** A listener to messages that a server sends on a session's notification stream. */
export interface Listener {
  hear(message: UpstreamMessage): void;
  ended(): void;
}

/** The notification stream of a handshake session, shared by all listeners. */
export interface SessionFeed {
  readonly listeners: Set<Listener>;
  readonly abort: AbortController;
  /** Whether it stays open for requests from the server. */
  kept: boolean;
  /** Resolves to whether the server offers the stream. */
  readonly open: Promise<boolean>;
}

/** Receives the client's response to a request sent on its stream. */
export type ClientAnswer = (answer: JsonObject) => void;
