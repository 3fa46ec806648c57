import { isObject, type JsonObject, objectInJson } from "../../kernel/json-value.ts";
import type { MessageListener, MessageSocket } from "../../kernel/http/message-socket.ts";
import { filledOf, objectOf } from "../../wire/openai/loose-fields.ts";
import { HeldAudio } from "./held-audio.ts";
import { TOLD, withoutAudio } from "./provider-events.ts";
import { RunningResponse } from "./running-response.ts";
import { SentEvents } from "./sent-events.ts";

/** What the connection tells its session apart from responses. */
export interface ConnectionEvents {
  event(event: JsonObject): void;
  connectionClosed(): void;
}

/** The most that is kept of what a provider sends, in characters. */
interface ConnectionBounds {
  /** Events before the client's socket is open, normally only `session.created`. */
  readonly early: number;
  /** Events of a response that a slow client has not taken. */
  readonly unread: number;
  /** Audio of a response that waits for its transcript. */
  readonly audio: number;
}

/** Ten minutes of uncompressed speech are about 38 MiB. */
const BOUNDS: ConnectionBounds = { early: 1024 * 1024, unread: 16 * 1024 * 1024, audio: 48 * 1024 * 1024 };

/**
 * The connection to the provider. Events of a response go into a stream that governance inspects; its audio is kept aside until its
 * transcript has passed. Events of a response that the gateway did not ask for go nowhere.
 */
export class RealtimeConnection implements MessageListener {
  readonly audio: HeldAudio;
  private readonly bounds: ConnectionBounds;
  private readonly sent = new SentEvents();
  private session: ConnectionEvents | null = null;
  private readonly early: JsonObject[] = [];
  private earlyLength = 0;
  private running: RunningResponse | null = null;
  private closedWith: number | null = null;
  private idle: (() => void) | null = null;
  /** Items of the client as they were sent; null once the provider has confirmed one. */
  private readonly ownItems = new Map<string, JsonObject | null>();
  private said: ReadonlySet<string> = new Set();

  constructor(bounds: ConnectionBounds = BOUNDS) {
    this.bounds = bounds;
    this.audio = new HeldAudio(bounds.audio);
  }

  send(event: JsonObject, clientId: string | null): void {
    this.sent.send(event, clientId);
  }

  /** Bytes that the provider has not taken yet. */
  get queuedBytes(): number {
    return this.sent.queuedBytes;
  }

  /** Notes the item that the provider made of the caller's audio. */
  heard(id: string): void {
    this.ownItems.set(id, { id, type: "message", role: "user", content: [{ type: "input_audio", transcript: null }] });
  }

  opened(socket: MessageSocket): void {
    this.sent.socket = socket;
  }

  attach(session: ConnectionEvents): void {
    this.session = session;
    for (const event of this.early.splice(0)) session.event(event);
    if (this.closedWith !== null) session.connectionClosed();
  }

  /** Sends the events that ask for a response; null if the connection is closed. */
  ask(events: readonly JsonObject[], clientId: string | null): ReadableStream<Uint8Array> | null {
    if (this.sent.socket === null || this.closedWith !== null || this.running !== null) return null;
    for (const { item } of events) if (isObject(item) && typeof item.id === "string") this.ownItems.set(item.id, item);
    const asked = events.map((event) => this.sent.send(event, clientId));
    const running = new RunningResponse(asked, this.bounds.unread, () => this.leave());
    this.running = running;
    return running.stream;
  }

  /** Resolves once the provider works on no response. */
  async whenIdle(): Promise<void> {
    if (this.running !== null) await new Promise<void>((resolve) => (this.idle = resolve));
  }

  /** Makes the provider forget the last response, because the client did not get it. */
  forget(): void {
    for (const id of this.said) this.sent.sendQuietly({ type: "conversation.item.delete", item_id: id });
    this.said = new Set();
  }

  close(): void {
    this.sent.socket?.close(1000, "");
  }

  message(text: string | null): void {
    const event = text === null ? null : objectInJson(text);
    const type = filledOf(event?.type);
    if (text === null || event === null || type === null) return;
    if (this.session === null && (this.earlyLength += text.length) > this.bounds.early) return;
    if (type === "error") return this.failed(event);
    if (type.startsWith("response.")) return this.responding(event, type, text.length);
    const item = objectOf(event.item);
    if (item !== null) return this.itemTold(event, type, String(item.id));
    if (TOLD.has(type)) this.tell(event);
  }

  drained(): void {}

  closed(code: number): void {
    this.closedWith = code;
    const { running } = this;
    this.running = null;
    running?.fail(`the connection to the model was closed with ${code}`);
    this.idle?.();
    this.session?.connectionClosed();
  }

  /** An item of the client is told as it was sent, because no control would see what the provider made of it. */
  private itemTold(event: JsonObject, type: string, id: string): void {
    const own = this.ownItems.get(id);
    if (own === undefined) return this.running === null ? undefined : this.running.give(withoutAudio(event));
    if (own === null || !TOLD.has(type)) return;
    if (type.endsWith(".done")) this.ownItems.set(id, null);
    this.tell({ ...event, item: { object: "realtime.item", status: "completed", ...own } });
  }

  private responding(event: JsonObject, type: string, length: number): void {
    const { running } = this;
    const response = objectOf(event.response);
    const id = filledOf(event.response_id) ?? filledOf(response?.id);
    if (running === null || (running.id !== null && running.id !== id) || (running.id === null && type !== "response.created")) {
      // Nobody is charged for a response that the gateway did not ask for.
      if (type === "response.created") this.sent.sendQuietly({ type: "response.cancel", ...(id !== null && { response_id: id }) });
      return;
    }
    running.id ??= id;
    if (type === "response.created" && running.left) this.sent.sendQuietly({ type: "response.cancel", response_id: id });
    const itemId = filledOf(objectOf(event.item)?.id);
    if (itemId !== null) running.itemIds.add(itemId);
    if (HeldAudio.isAudio(type)) {
      if (!running.left && !this.audio.hold(event, length)) running.fail("more audio than the gateway holds for one response");
    } else {
      if (type.endsWith("transcript.done")) this.audio.transcribed(event);
      running.give(withoutAudio(event));
    }
    if (type === "response.done") this.ended(running);
  }

  private failed(event: JsonObject): void {
    const error = objectOf(event.error) ?? {};
    const named = filledOf(error.event_id);
    if (named !== null && this.sent.wasQuiet(named)) return;
    const { running } = this;
    const told: JsonObject = { ...event, error: { ...error, event_id: this.sent.clientIdOf(named) } };
    const isOfResponse = running !== null && running.id === null && (named === null || named === running.asked.at(-1));
    if (!isOfResponse) return this.tell(told);
    running.give(told);
    this.ended(running);
  }

  private ended(running: RunningResponse): void {
    if (this.running !== running) return;
    this.running = null;
    this.said = running.itemIds;
    if (running.left) this.forget();
    else running.end();
    this.idle?.();
  }

  /** The response is read no further: it is cancelled, and forgotten once it has ended. */
  private leave(): void {
    const { running } = this;
    if (running === null || running.left) return;
    running.left = true;
    if (running.id !== null) this.sent.sendQuietly({ type: "response.cancel", response_id: running.id });
  }

  private tell(event: JsonObject): void {
    if (this.session !== null) this.session.event(event);
    else this.early.push(event);
  }
}
