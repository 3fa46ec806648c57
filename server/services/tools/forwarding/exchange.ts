import type { JsonObject } from "../../../kernel/json-value.ts";
import type { RpcId } from "../../../wire/mcp/rpc.ts";
import type { ResourceSubscriptions } from "../changes/resource-subscriptions.ts";
import type { UpstreamMessage } from "./upstream-messages.ts";

/**
 * One session with a handshake server: that of one session of a caller, or shared by the calls of one principal without
 * sessions that have the same capabilities.
 */
export interface PooledSession {
  readonly key: string;
  readonly url: string;
  /** What it was begun with. */
  readonly headers: Readonly<Record<string, string>>;
  readonly id: string | null;
  readonly version: string;
  readonly serverInfo: JsonObject | null;
  readonly capabilities: JsonObject;
  readonly instructions: string | null;
  nextId: number;
  /** When it was last asked for, as milliseconds of the process. */
  usedAt: number;
  /** As it was last set. */
  logLevel: string | null;
  /** Its server does not know it any more. */
  over: boolean;
  /** Its server has no stream for what it tells unasked. */
  feedless: boolean;
  /** The requests under way in it by their ids, oldest first: they hear what the server asks of the session, and of their progress. */
  readonly exchanges: Map<number, (message: UpstreamMessage) => void>;
  readonly subscriptions: ResourceSubscriptions;
}

/** One request sent to a tool server, and the messages that come back. */
export interface Asked {
  readonly messages: AsyncGenerator<UpstreamMessage, void>;
  /** Of the request as the server knows it. */
  readonly id: RpcId;
  readonly session: PooledSession | null;
  /** As the server said it when the session began; null of a stateless one. */
  readonly serverInfo: JsonObject | null;
  readonly abort: AbortController;
  /** From now on the exchange lives on when its call ends. */
  detach(): void;
  /** Nothing more is wanted of it. */
  end(): void;
  /** Sends a message that answers a request of the server's. Never rejects: an exchange that breaks off gives no more messages. */
  respond(text: string): Promise<void>;
}

/** An exchange with a handshake server that waits for input, while its stateless caller is asked for it. */
export interface HeldExchange {
  readonly asked: Asked;
  readonly tenantId: string;
  readonly timer: ReturnType<typeof setTimeout>;
  /** Stops waiting for another process to go on with it. */
  readonly alone: () => void;
}

/** A listener to messages that a session's server sends unasked. */
export interface Listener {
  hear(message: UpstreamMessage): void;
  ended(): void;
}

/** The one stream on which a handshake server tells a session of changes, for all who listen to it. */
export interface SessionFeed {
  readonly listeners: Set<Listener>;
  readonly abort: AbortController;
  /** Whether it stays open for what the server may ask there. */
  kept: boolean;
  /** Whether the server has such a stream. */
  readonly open: Promise<boolean>;
}

/** Called with the client's answer to a request that was sent on its stream. */
export type ClientAnswer = (answer: JsonObject) => void;
