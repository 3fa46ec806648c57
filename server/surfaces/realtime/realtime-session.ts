import type { JsonObject } from "../../kernel/json-value.ts";
import type { MessageListener, MessageSocket } from "../../kernel/http/message-socket.ts";
import type { Call } from "../../road/call.ts";
import { objectOf } from "../../wire/openai/loose-fields.ts";
import { type ClientEvent, readClientEvent } from "../../wire/realtime/client-events.ts";
import type { EventProblem } from "../../wire/realtime/event-problem.ts";
import { HELD_SETTINGS, passedSettings, toldSession } from "../../wire/realtime/session-settings.ts";
import { ClientSocket } from "./client-socket.ts";
import { governedResponse } from "./governed-response.ts";
import { InputAudio } from "./input-audio.ts";
import { PendingItems } from "./pending-items.ts";
import type { ConnectionEvents } from "./realtime-connection.ts";
import { problemEvent } from "./realtime-refusals.ts";
import type { SessionTerms } from "./session-terms.ts";

/** Close codes: RFC 6455, and 1013 of the IANA registry. */
const GOING_AWAY = 1001;
const POLICY = 1008;
const UPSTREAM_ERROR = 1011;

const NOT_HEARD =
  "Audio is not heard here: a guardrail or semantic policy inspects what callers write, and audio could not be inspected before the model hears it. Transcribe it at /v1/proxy/llm/audio/transcriptions and send the text.";
/** Audio that the provider has not taken yet. */
const MAX_QUEUED_BYTES = 16 * 1024 * 1024;
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
  private readonly input = new InputAudio();
  private mayHear: boolean;
  /** Updates of the gateway's own that the provider has not confirmed. */
  private ownUpdates = 0;
  /** Whether the caller's turn ended while another response was running. */
  private isTurnWaiting = false;
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
    this.mayHear = terms.mayHear;
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
    if (event.type === "session.updated" && this.ownUpdates > 0) return void this.ownUpdates--;
    if (event.type === "input_audio_buffer.committed") return this.committed(event);
    if (event.type === "input_audio_buffer.speech_stopped") this.input.turnEnded(event);
    const session = objectOf(event.session);
    this.client.tell(session === null ? event : { ...event, session: toldSession(session, this.held, this.input.createsResponses) });
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
      case "hear":
        return this.hear(read.event, read.audio, eventId);
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
    if (this.mayHear) this.takeTurns();
    const input = this.mayHear ? this.input.settings(objectOf(session.audio)) : null;
    this.terms.connection.send({ type: "session.update", session: passedSettings(session, input) }, eventId);
  }

  private hear(event: JsonObject, audio: string | null, eventId: string | null): void {
    const { connection } = this.terms;
    if (!this.mayHear) return this.refuse({ code: "unsupported_event", message: NOT_HEARD, param: "type" }, eventId);
    if (connection.queuedBytes > MAX_QUEUED_BYTES)
      return this.refuse(
        { code: "invalid_event", message: "The model does not take audio as fast as it is sent.", param: "audio" },
        eventId,
      );
    this.takeTurns();
    if (audio !== null) this.input.appended(audio);
    connection.send(event, eventId);
  }

  /** Has the provider leave the making of responses to the gateway. */
  private takeTurns(): void {
    const update = this.input.firstUpdate();
    if (update === null) return;
    this.ownUpdates++;
    this.terms.connection.send(update, null);
  }

  private committed(event: JsonObject): void {
    const heard = this.input.committedAs(event);
    if (heard === null) return;
    this.terms.connection.heard(heard.id);
    this.client.tell(event);
    if (!heard.endsTurn || !this.input.createsResponses) return;
    if (this.running === null) void this.respond({}, null);
    else this.isTurnWaiting = true;
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
      const mayHear = (call: Call) => (this.mayHear &&= this.terms.mayHearNow(call));
      const asked = { held, response, eventId, earlierCharacters, input: this.input, mayHear, signal: running.signal };
      const { status, characters } = await governedResponse(this.terms, this.client, this.pending, asked);
      this.earlierCharacters = characters;
      if (!this.mayHear && this.input.unansweredTokens > 0) this.close(POLICY, "what the caller says is inspected now");
      if (status === 401) this.close(POLICY, "the credential is not valid any more");
    } finally {
      connection.audio.clear();
      this.running = null;
      if (this.leaving !== null) this.close(GOING_AWAY, this.leaving);
    }
    if (!this.isTurnWaiting || this.client.isClosed) return;
    this.isTurnWaiting = false;
    return this.respond({}, null);
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
