import type { JsonObject } from "../../kernel/json-value.ts";
import type { MessageListener, MessageSocket } from "../../kernel/http/message-socket.ts";
import { objectOf } from "../../wire/openai/loose-fields.ts";
import { type ClientEvent, readClientEvent } from "../../wire/realtime/client-events.ts";
import type { EventProblem } from "../../wire/realtime/event-problem.ts";
import { HELD_SETTINGS, passedSettings } from "../../wire/realtime/session-settings.ts";
import { ClientSocket } from "./client-socket.ts";
import { governedResponse } from "./governed-response.ts";
import { PendingItems } from "./pending-items.ts";
import type { ConnectionEvents } from "./realtime-connection.ts";
import { problemEvent } from "./realtime-refusals.ts";
import type { SessionTerms } from "./session-terms.ts";

/** Close codes: RFC 6455, and 1013 of the IANA registry. */
const GOING_AWAY = 1001;
const POLICY = 1008;
const UPSTREAM_ERROR = 1011;

/** OpenAI ends its sessions after an hour. */
const MAX_SESSION_MS = 60 * 60 * 1_000;
const MAX_SILENCE_MS = 15 * 60 * 1_000;

/**
 * One client's session with a model. What the client says is kept until it asks for a response, which is a governed call of its own: the
 * provider gets the new items and the settings as that call's controls left them.
 */
export class RealtimeSession implements MessageListener, ConnectionEvents {
  private readonly terms: SessionTerms;
  private readonly client: ClientSocket;
  private held: JsonObject = {};
  private readonly pending = new PendingItems();
  /** Length of what the provider's conversation holds, in characters. */
  private earlierCharacters = 0;
  /** Aborts the call of the running response. */
  private running: AbortController | null = null;
  private leaving: string | null = null;
  private silence: ReturnType<typeof setTimeout>;
  private readonly limit: ReturnType<typeof setTimeout>;

  constructor(socket: MessageSocket, terms: SessionTerms) {
    this.client = new ClientSocket(socket);
    this.terms = terms;
    this.silence = setTimeout(() => this.leave("the session was silent for too long"), MAX_SILENCE_MS);
    this.limit = setTimeout(() => this.leave("the session has lasted as long as sessions may"), MAX_SESSION_MS);
    terms.connection.attach(this);
  }

  /** Ends the session after the response that is being made. */
  leave(reason: string): void {
    this.leaving ??= reason;
    if (this.running === null) this.close(GOING_AWAY, this.leaving);
  }

  message(text: string | null): void {
    if (this.client.isClosed) return;
    this.silence.refresh();
    const { eventId, read } = readClientEvent(text);
    if ("code" in read) this.refuse(read, eventId);
    else this.act(read, eventId);
  }

  drained(): void {
    this.client.drained();
  }

  closed(): void {
    if (this.client.isClosed) return;
    this.end();
    this.running?.abort();
    this.terms.connection.close();
  }

  /** An event of the provider that belongs to no response. */
  event(event: JsonObject): void {
    const session = objectOf(event.session);
    this.client.tell(session === null ? event : { ...event, session: { ...session, ...this.held } });
  }

  private act(read: ClientEvent, eventId: string | null): void {
    const { connection } = this.terms;
    switch (read.kind) {
      case "update":
        return this.update(read.session, eventId);
      case "item":
        return this.add(read.item, read.after, eventId);
      case "respond":
        return void this.respond(read.response, eventId);
      case "cancel":
      case "truncate":
        return connection.send(read.event, eventId);
      case "delete": {
        if (!this.pending.remove(read.event.item_id)) return connection.send(read.event, eventId);
        this.client.tell({ type: "conversation.item.deleted", item_id: read.event.item_id ?? null });
      }
    }
  }

  private update(session: JsonObject, eventId: string | null): void {
    const { model } = session;
    if (model !== undefined && model !== this.modelAsked)
      return this.refuse({ code: "unsupported_parameter", message: "A session keeps its model.", param: "session.model" }, eventId);
    const held = { ...this.held };
    for (const name of HELD_SETTINGS) if (session[name] !== undefined) held[name] = session[name];
    this.held = held;
    this.terms.connection.send({ type: "session.update", session: passedSettings(session) }, eventId);
  }

  private get modelAsked(): string | null {
    return new URL(this.terms.url).searchParams.get("model");
  }

  private add(item: JsonObject, after: string | null, eventId: string | null): void {
    if (this.pending.add(item, after)) return;
    this.refuse({ code: "invalid_event", message: "Too many items wait for a response.", param: "item" }, eventId);
  }

  private async respond(response: JsonObject, eventId: string | null): Promise<void> {
    if (this.leaving !== null) return;
    if (this.running !== null) {
      const message = "The conversation already has an active response.";
      return this.client.tell(problemEvent({ code: "conversation_already_has_active_response", message, param: null }, eventId));
    }
    const { connection } = this.terms;
    const running = new AbortController();
    this.running = running;
    try {
      await connection.whenIdle();
      if (this.client.isClosed) return;
      const { held, earlierCharacters } = this;
      const asked = { held, response, eventId, earlierCharacters, signal: running.signal };
      const { status, characters } = await governedResponse(this.terms, this.client, this.pending, asked);
      this.earlierCharacters = characters;
      if (status === 401) this.close(POLICY, "the credential is not valid any more");
    } finally {
      connection.audio.clear();
      this.running = null;
      if (this.leaving !== null) this.close(GOING_AWAY, this.leaving);
    }
  }

  private refuse(problem: EventProblem, eventId: string | null): void {
    this.client.tell(problemEvent(problem, eventId));
  }

  /** The provider closed the connection. */
  connectionClosed(): void {
    this.client.tell(problemEvent({ code: "upstream_closed", message: "The connection to the model was closed.", param: null }, null));
    this.close(UPSTREAM_ERROR, "the connection to the model was closed");
  }

  private close(code: number, reason: string): void {
    if (this.client.isClosed) return;
    this.end();
    this.client.close(code, reason);
    this.terms.connection.close();
  }

  private end(): void {
    this.client.gone();
    clearTimeout(this.silence);
    clearTimeout(this.limit);
    this.terms.ended();
  }
}
