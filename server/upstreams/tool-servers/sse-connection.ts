import { isRefusal, type Refusal } from "../../kernel/errors.ts";
import { cancelQuietly } from "../../kernel/http/cancel-quietly.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { progressTokenOf } from "../../wire/mcp/progress.ts";
import { idIn, memberText, messagesIn, readUpstreamRpc, resultText } from "../../wire/mcp/rpc.ts";
import { frameData } from "../../wire/streams/sse-data.ts";
import type { FrameCutter } from "../../wire/streams/sse-frames.ts";
import { redactSecrets } from "../redact-secrets.ts";
import { secretsOf } from "../request-secrets.ts";
import { MessageStream } from "./message-stream.ts";
import type { ToolServerRequest, ToolServerSend } from "./send.ts";

/** How long an idle connection is kept; its client must then start a new session. */
const IDLE_MS = 30 * 60_000;
/** Most bytes without a receiver between two requests; a server that sends more is disconnected. */
const MAX_UNCLAIMED = 4 * 1024 * 1024;
const EVENT_STREAM = { "content-type": "text/event-stream" };

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** A pending answer. */
interface Awaited {
  /** The request's ID as JSON. */
  readonly id: string;
  readonly progressToken: JsonValue | undefined;
  readonly stream: MessageStream;
}

/** The parts of a connection whose server has sent its endpoint event. */
export interface SseParts {
  readonly id: string;
  readonly url: string;
  readonly tenantId: string | undefined;
  /** The URL that messages are posted to. */
  readonly endpoint: string;
  /** Headers of the request that opened the connection. */
  readonly headers: Readonly<Record<string, string>>;
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly cutter: FrameCutter;
  readonly abort: AbortController;
  readonly send: ToolServerSend;
  readonly closed: () => void;
}

/**
 * A connection to a server of the HTTP+SSE transport (protocol version 2024-11-05): requests are posted to one URL, and the answers to all
 * of them arrive on one stream. Each request gets its own part, as a server of the newer transport would answer it.
 */
export class SseConnection {
  readonly parts: SseParts;
  private readonly awaited = new Set<Awaited>();
  private listener: MessageStream | null = null;
  private isOpen = true;
  private unclaimed = 0;
  private idle: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: SseParts) {
    this.parts = parts;
    this.rest();
    void this.read();
  }

  get isIdle(): boolean {
    return this.awaited.size === 0 && this.listener === null;
  }

  /** Answers a request in this connection's session. */
  async answer(request: ToolServerRequest): Promise<Response | Refusal> {
    switch (request.method) {
      case "POST":
        return this.post(request);
      case "GET":
        return this.listen(request);
      case "DELETE":
        this.close();
        return new Response(null, { status: 204 });
      default:
        return new Response(null, { status: 405, headers: { allow: "GET, POST, DELETE" } });
    }
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    clearTimeout(this.idle);
    this.parts.closed();
    for (const { stream } of this.awaited) stream.end();
    this.listener?.end();
    this.parts.abort.abort("session_over");
  }

  private async post({ headers, body = "", abort, timeoutMs }: ToolServerRequest): Promise<Response | Refusal> {
    const { endpoint, id, send } = this.parts;
    const message = typeof body === "string" ? readUpstreamRpc(body) : null;
    const awaited = message === null ? null : this.waitFor(message, body as string, abort.signal);
    const { "mcp-session-id": _session, ...others } = headers;
    const posted = await send({ url: endpoint, method: "POST", headers: others, body, abort, timeoutMs });
    if (isRefusal(posted) || !posted.ok) {
      awaited?.stream.end();
      if (!isRefusal(posted) && posted.status === 404) this.close();
      return posted;
    }
    await cancelQuietly(posted.body);
    if (awaited === null) return new Response(null, { status: 202 });
    const answer = new Response(awaited.stream.body, { headers: { ...EVENT_STREAM, "mcp-session-id": id } });
    // The stream was opened with another request's credential.
    return redactSecrets(answer, secretsOf(headers));
  }

  /** Null if the message is not a request and so has no answer. */
  private waitFor(message: JsonObject, text: string, signal: AbortSignal): Awaited | null {
    const id = typeof message.method === "string" ? idIn(memberText(text, "id"), message.id) : null;
    if (id === null) return null;
    const meta = isObject(message.params) ? message.params._meta : undefined;
    const awaited: Awaited = {
      id: JSON.stringify(id),
      progressToken: isObject(meta) ? meta.progressToken : undefined,
      stream: new MessageStream(signal, () => {
        this.awaited.delete(awaited);
        this.rest();
      }),
    };
    this.awaited.add(awaited);
    this.unclaimed = 0;
    clearTimeout(this.idle);
    return awaited;
  }

  private listen({ abort: { signal } }: ToolServerRequest): Response {
    if (this.listener !== null) return new Response(null, { status: 409 });
    this.listener = new MessageStream(signal, () => {
      this.listener = null;
      this.rest();
    });
    clearTimeout(this.idle);
    return new Response(this.listener.body, { headers: EVENT_STREAM });
  }

  /** Schedules the close of an idle connection. */
  private rest(): void {
    clearTimeout(this.idle);
    if (!this.isOpen || !this.isIdle) return;
    this.idle = setTimeout(() => this.close(), IDLE_MS);
    this.idle.unref?.();
  }

  private async read(): Promise<void> {
    const { reader, cutter } = this.parts;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        for (const frame of cutter.push(value)) this.take(frame);
      }
    } catch {
      // The connection broke off; pending streams end without an answer.
    }
    this.close();
  }

  private take(frame: Uint8Array): void {
    const data = frameData(decoder.decode(frame));
    const texts = data === null ? [] : messagesIn(data);
    let isClaimed = false;
    for (const text of texts) {
      const message = readUpstreamRpc(text);
      if (message !== null) isClaimed = this.pass(message, text, texts.length === 1 ? frame : encoder.encode(`data: ${text}\n\n`));
    }
    if (isClaimed) return;
    this.unclaimed += frame.byteLength;
    if (this.unclaimed > MAX_UNCLAIMED) this.close();
  }

  /** Returns whether the message had a receiver. */
  private pass(message: JsonObject, text: string, frame: Uint8Array): boolean {
    if (typeof message.method === "string") {
      if (message.method === "ping" && message.id !== undefined) {
        this.pong(text, message.id);
        return false;
      }
      const receiver = this.receiverOf(message);
      receiver?.push(frame);
      return receiver !== null;
    }
    const id = JSON.stringify(idIn(memberText(text, "id"), message.id));
    const answered = [...this.awaited].find((awaited) => awaited.id === id);
    answered?.stream.push(frame);
    answered?.stream.end();
    return answered !== undefined;
  }

  /** A guess, because this transport does not say which request a message belongs to. */
  private receiverOf(message: JsonObject): MessageStream | null {
    const awaited = [...this.awaited];
    const token = progressTokenOf(message);
    if (token !== undefined) return awaited.find(({ progressToken }) => progressToken === token)?.stream ?? null;
    if (TOLD_TO_ALL.test(message.method as string)) return this.listener;
    if (awaited.length === 1) return awaited[0]?.stream ?? null;
    return this.listener ?? awaited.at(-1)?.stream ?? null;
  }

  private pong(text: string, id: JsonValue): void {
    const { endpoint, headers, send } = this.parts;
    const body = resultText(idIn(memberText(text, "id"), id), "{}");
    const request = { url: endpoint, method: "POST", headers, body, abort: new AbortController(), timeoutMs: PONG_MS };
    void send(request).then((response) => (isRefusal(response) ? undefined : cancelQuietly(response.body)));
  }
}

const PONG_MS = 10_000;
/** Notifications that no request caused. */
const TOLD_TO_ALL = /^notifications\/(?:.*\/list_changed|resources\/updated)$/;
