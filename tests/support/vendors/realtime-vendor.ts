/** A fake of OpenAI's Realtime API, written from the vendor's reference: it knows nothing of the gateway. */
export interface RealtimeVendor {
  readonly origin: string;
  /** Events received, in order, of all connections. */
  readonly seen: any[];
  /** Query and authorization of each connection. */
  readonly handshakes: { readonly query: string; readonly authorization: string | null }[];
  /** Number of open connections. */
  connections(): number;
  /** Closes every connection. */
  cut(): void;
  /** Sends an event to every connection. */
  push(event: object): void;
  /** The status of handshakes instead of an upgrade. */
  refusing: number | null;
  /** Reported by responses instead of the usual one. */
  usage: object | null;
  stop(): Promise<void>;
}

/** What the model says. `audio`: as speech with a transcript; null for no transcript. */
export interface Reply {
  readonly text?: string;
  readonly audio?: string | null;
  readonly call?: { readonly name: string; readonly arguments: string };
  /** Never ends by itself. */
  readonly endless?: true;
}

interface Connection {
  running: { id: string; itemId: string } | null;
  n: number;
  /** How the caller's turns are detected; null for not at all. */
  turns: { readonly create_response?: boolean } | null;
  /** What waits in the input audio buffer. */
  buffer: string;
}

const USAGE = {
  total_tokens: 150,
  input_tokens: 100,
  output_tokens: 50,
  input_token_details: {
    text_tokens: 100,
    audio_tokens: 0,
    image_tokens: 0,
    cached_tokens: 40,
    cached_tokens_details: { text_tokens: 40, audio_tokens: 0 },
  },
  output_token_details: { text_tokens: 20, audio_tokens: 30 },
};

export function realtimeVendor(reply: (request: any, items: readonly any[]) => Reply): RealtimeVendor {
  const seen: any[] = [];
  const handshakes: RealtimeVendor["handshakes"] = [];
  const open = new Set<Bun.ServerWebSocket<Connection>>();
  const items: any[] = [];
  const send = (socket: Bun.ServerWebSocket<Connection>, event: object) =>
    void socket.send(JSON.stringify({ event_id: `event_${socket.data.n++}`, ...event }));

  function speak(socket: Bun.ServerWebSocket<Connection>, given: any) {
    const said = reply(given, items);
    const id = `resp_${crypto.randomUUID()}`;
    const itemId = `item_${crypto.randomUUID()}`;
    socket.data.running = { id, itemId };
    const at = { response_id: id, item_id: itemId, output_index: 0, content_index: 0 };
    send(socket, {
      type: "response.created",
      response: { object: "realtime.response", id, status: "in_progress", output: [], usage: null },
    });
    const message = {
      id: itemId,
      object: "realtime.item",
      type: "message",
      role: "assistant",
      status: "in_progress",
      content: [] as object[],
    };
    if (said.call !== undefined) {
      const call = { ...message, type: "function_call", call_id: "call_1", name: said.call.name, arguments: "" };
      send(socket, { type: "response.output_item.added", response_id: id, output_index: 0, item: call });
      send(socket, { type: "conversation.item.added", previous_item_id: null, item: call });
      const of = { response_id: id, item_id: itemId, output_index: 0, call_id: "call_1" };
      for (const delta of said.call.arguments.match(/.{1,8}/gs) ?? [])
        send(socket, { type: "response.function_call_arguments.delta", ...of, delta });
      send(socket, { type: "response.function_call_arguments.done", ...of, name: said.call.name, arguments: said.call.arguments });
      const done = { ...call, status: "completed", arguments: said.call.arguments };
      send(socket, { type: "response.output_item.done", response_id: id, output_index: 0, item: done });
      return finish(socket, id, [done]);
    }
    send(socket, { type: "response.output_item.added", response_id: id, output_index: 0, item: message });
    send(socket, { type: "conversation.item.added", previous_item_id: null, item: message });
    const words = said.text ?? said.audio ?? "spoken";
    const isAudio = said.text === undefined;
    send(socket, {
      type: "response.content_part.added",
      ...at,
      part: isAudio ? { type: "audio", transcript: "" } : { type: "text", text: "" },
    });
    for (const delta of words.match(/.{1,6}/gs) ?? []) {
      if (isAudio) {
        send(socket, { type: "response.output_audio.delta", ...at, delta: Buffer.from(`~${delta}`).toString("base64") });
        if (said.audio !== null) send(socket, { type: "response.output_audio_transcript.delta", ...at, delta });
      } else send(socket, { type: "response.output_text.delta", ...at, delta });
    }
    if (said.endless) return;
    if (isAudio) {
      send(socket, { type: "response.output_audio.done", ...at });
      if (said.audio !== null) send(socket, { type: "response.output_audio_transcript.done", ...at, transcript: words });
    } else send(socket, { type: "response.output_text.done", ...at, text: words });
    const part = isAudio ? { type: "output_audio", transcript: said.audio } : { type: "output_text", text: words };
    send(socket, { type: "response.content_part.done", ...at, part });
    const done = { ...message, status: "completed", content: [part] };
    send(socket, { type: "response.output_item.done", response_id: id, output_index: 0, item: done });
    send(socket, { type: "conversation.item.done", previous_item_id: null, item: done });
    finish(socket, id, [done]);
  }
  function finish(socket: Bun.ServerWebSocket<Connection>, id: string, output: object[], status = "completed") {
    socket.data.running = null;
    send(socket, { type: "response.done", response: { object: "realtime.response", id, status, output, usage: vendor.usage ?? USAGE } });
  }

  /** Makes an item of the audio in the buffer. */
  function commit(socket: Bun.ServerWebSocket<Connection>) {
    const item_id = `item_${crypto.randomUUID()}`;
    const content = [{ type: "input_audio", transcript: null }];
    const item = { id: item_id, object: "realtime.item", type: "message", role: "user", status: "completed", content };
    items.push({ ...item, heard: socket.data.buffer });
    socket.data.buffer = "";
    send(socket, { type: "input_audio_buffer.committed", previous_item_id: null, item_id });
    for (const type of ["conversation.item.added", "conversation.item.done"]) send(socket, { type, previous_item_id: null, item });
  }

  /** The fake's audio is text; speech ends with a full stop. */
  function hear(socket: Bun.ServerWebSocket<Connection>, audio: string) {
    const { data } = socket;
    if (data.buffer === "" && data.turns !== null)
      send(socket, { type: "input_audio_buffer.speech_started", audio_start_ms: 0, item_id: "item_next" });
    data.buffer += Buffer.from(audio, "base64").toString();
    if (data.turns === null || !data.buffer.endsWith(".")) return;
    send(socket, { type: "input_audio_buffer.speech_stopped", audio_end_ms: 60_000, item_id: "item_next" });
    commit(socket);
    if (data.turns.create_response !== false && data.running === null) speak(socket, {});
  }

  const server = Bun.serve<Connection>({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request, self) {
      const { pathname, search } = new URL(request.url);
      if (pathname !== "/v1/realtime") return new Response("no", { status: 404 });
      handshakes.push({ query: search, authorization: request.headers.get("authorization") });
      if (vendor.refusing !== null) return new Response("no", { status: vendor.refusing });
      return self.upgrade(request, { data: { running: null, n: 0, turns: {}, buffer: "" } })
        ? undefined
        : new Response("no", { status: 400 });
    },
    websocket: {
      open(socket) {
        open.add(socket);
        send(socket, {
          type: "session.created",
          session: { type: "realtime", object: "realtime.session", id: "sess_1", instructions: "Be kind." },
        });
      },
      close: (socket) => void open.delete(socket),
      message(socket, text): void {
        const event = JSON.parse(String(text));
        seen.push(event);
        const error = (message: string) =>
          send(socket, {
            type: "error",
            error: { type: "invalid_request_error", code: "bad", message, param: null, event_id: event.event_id },
          });
        switch (event.type) {
          case "input_audio_buffer.append":
            return hear(socket, event.audio);
          case "input_audio_buffer.commit":
            return socket.data.buffer === "" ? error("the buffer is empty") : commit(socket);
          case "input_audio_buffer.clear":
            socket.data.buffer = "";
            return send(socket, { type: "input_audio_buffer.cleared" });
          case "session.update":
            if (event.session.audio?.input?.turn_detection?.type === "no_such") return error("no such turn detection");
            if (event.session.audio?.input?.turn_detection !== undefined) socket.data.turns = event.session.audio.input.turn_detection;
            return send(socket, { type: "session.updated", session: { object: "realtime.session", id: "sess_1", ...event.session } });
          case "conversation.item.create": {
            const item = { object: "realtime.item", status: "completed", ...event.item };
            items.push(item);
            for (const type of ["conversation.item.added", "conversation.item.done"]) send(socket, { type, previous_item_id: null, item });
            return;
          }
          case "conversation.item.delete":
            return send(socket, { type: "conversation.item.deleted", item_id: event.item_id });
          case "response.create":
            if (socket.data.running !== null) return error("there is an active response");
            if (event.response?.instructions === "fail") return error("the response cannot be made");
            return speak(socket, event.response ?? {});
          case "response.cancel":
            if (socket.data.running === null) return error("nothing to cancel");
            return finish(socket, socket.data.running.id, [], "cancelled");
          default:
            return error(`unknown ${event.type}`);
        }
      },
    },
  });
  const vendor: RealtimeVendor = {
    origin: `http://127.0.0.1:${server.port}`,
    seen,
    handshakes,
    connections: () => open.size,
    cut: () => [...open].forEach((socket) => socket.close(1011, "cut")),
    push: (event) => [...open].forEach((socket) => send(socket, event)),
    refusing: null,
    usage: null,
    stop: () => server.stop(true),
  };
  return vendor;
}
