import { until } from "../until.ts";

/** A plain WebSocket client of the gateway's Realtime API. */
export class RealtimeClient {
  readonly events: any[] = [];
  closed: { readonly code: number; readonly reason: string } | null = null;
  private readonly socket: WebSocket;

  constructor(runtimeUrl: string, model: string, headers: Record<string, string>, protocols: readonly string[] = []) {
    const url = `${runtimeUrl.replace("http", "ws")}/v1/proxy/llm/realtime?model=${model}`;
    const options = { headers, ...(protocols.length > 0 && { protocols: [...protocols] }) };
    this.socket = new (WebSocket as any)(url, options);
    this.socket.addEventListener("message", ({ data }) => void this.events.push(JSON.parse(String(data))));
    this.socket.addEventListener("close", ({ code, reason }) => (this.closed = { code, reason }));
  }

  send(...events: readonly object[]): void {
    for (const event of events) this.socket.send(JSON.stringify(event));
  }

  sendRaw(data: string | Uint8Array<ArrayBuffer>): void {
    this.socket.send(data);
  }

  say(text: string, id?: string): void {
    const item = { type: "message", role: "user", content: [{ type: "input_text", text }], ...(id !== undefined && { id }) };
    this.send({ type: "conversation.item.create", item });
  }

  /** The next event of this type from `from` on. */
  async next(type: string, from = 0): Promise<any> {
    return until(() => this.events.slice(from).find((event) => event.type === type) ?? null);
  }

  /** Says it, asks for a response, and returns all events up to its end or error. */
  async ask(text: string | null, response: object = {}): Promise<any[]> {
    const from = this.events.length;
    if (text !== null) this.say(text);
    this.send({ type: "response.create", event_id: "ask", response });
    await until(
      () =>
        this.events.slice(from).some(({ type, error }) => type === "response.done" || (type === "error" && error.event_id === "ask")) ||
        null,
    );
    return this.events.slice(from);
  }

  async untilClosed(): Promise<{ readonly code: number; readonly reason: string }> {
    return until(() => this.closed);
  }

  get protocol(): string {
    return this.socket.protocol;
  }

  close(): void {
    this.socket.close(1000);
  }
}
