/**
 * A server with stored responses, implemented from OpenAI's documentation and sharing no code with the gateway. Responses belong to the
 * account of the API key. The model name selects its behavior.
 */
export interface KeptResponse {
  readonly id: string;
  readonly account: string;
  readonly asked: Record<string, any>;
  readonly background: boolean;
  status: string;
  text: string;
  polls: number;
}

export interface ResponseVendor {
  readonly origin: string;
  readonly kept: Map<string, KeptResponse>;
  readonly seen: { method: string; path: string; query: string; account: string; body: any }[];
  /** The ID of the next response, if set. */
  nextId: string | null;
  /** Completes background responses. */
  finish(text?: string): void;
  /** Called for each read of a response; a non-null result replaces the true answer. */
  lie: ((response: KeptResponse) => object | null) | null;
  stop(): Promise<void>;
}

const USAGE = {
  ...{ input_tokens: 1000, input_tokens_details: { cached_tokens: 0 }, output_tokens: 500 },
  ...{ output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 1500 },
};

export function startResponseVendor(): ResponseVendor {
  const kept: ResponseVendor["kept"] = new Map();
  const seen: ResponseVendor["seen"] = [];
  const open = new Set<() => void>();
  let count = 0;

  const told = (one: KeptResponse): Record<string, any> => ({
    ...{ id: one.id, object: "response", created_at: 1763712000, status: one.status, background: one.background, error: null },
    ...{ incomplete_details: null, instructions: one.asked.instructions ?? null, metadata: {}, model: one.asked.model },
    ...{ parallel_tool_calls: true, previous_response_id: one.asked.previous_response_id ?? null, store: one.asked.store ?? true },
    ...{ temperature: 1, tool_choice: "auto", tools: [], top_p: 1 },
    output: one.status === "completed" ? [itemOf(one)] : [],
    usage: one.status === "completed" ? USAGE : null,
    ...(one.asked.service_tier && { service_tier: one.asked.service_tier }),
  });
  const itemOf = (one: KeptResponse) =>
    one.asked.model === "calls"
      ? { type: "function_call", id: "fc_1", call_id: "call_1", name: "pay", arguments: '{"amount":5}', status: "completed" }
      : { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [part(one.text)] };
  const part = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] });
  const eventsOf = (one: KeptResponse): object[] => [
    { type: "response.created", response: { ...told(one), status: "in_progress", output: [], usage: null } },
    ...(one.asked.model === "many"
      ? ["x", "y"].map((name) => ({ type: "response.in_progress", response: { ...told(one), id: `${one.id}${name}`, output: [] } }))
      : []),
    { type: "response.output_item.added", output_index: 0, item: { ...itemOf(one), status: "in_progress", content: [] } },
    { type: "response.content_part.added", item_id: "msg_1", output_index: 0, content_index: 0, part: part("") },
    { type: "response.output_text.delta", item_id: "msg_1", output_index: 0, content_index: 0, delta: one.text, logprobs: [] },
    { type: "response.output_text.done", item_id: "msg_1", output_index: 0, content_index: 0, text: one.text, logprobs: [] },
    { type: "response.content_part.done", item_id: "msg_1", output_index: 0, content_index: 0, part: part(one.text) },
    { type: "response.output_item.done", output_index: 0, item: itemOf(one) },
    { type: "response.completed", response: { ...told(one), status: "completed", output: [itemOf(one)], usage: USAGE } },
  ];
  const frames = (one: KeptResponse, after = -1): string[] =>
    eventsOf(one).flatMap((event, at) =>
      at <= after ? [] : [`event: ${(event as { type: string }).type}\ndata: ${JSON.stringify({ ...event, sequence_number: at })}\n\n`],
    );
  const streamed = (one: KeptResponse, after = -1): Response => {
    const encoder = new TextEncoder();
    const all = frames(one, after);
    return new Response(
      new ReadableStream<Uint8Array>({
        async start(controller) {
          for (const [at, text] of all.entries()) {
            if (one.asked.model === "slow" && one.status !== "completed" && at === 4)
              await new Promise<void>((resolve) => open.add(resolve));
            try {
              controller.enqueue(encoder.encode(text));
            } catch {
              return;
            }
          }
          one.status = "completed";
          controller.close();
        },
      }),
      { headers: { "content-type": "text/event-stream" } },
    );
  };
  const fault = (status: number, message: string, code: string | null = null) =>
    Response.json({ error: { message, type: "invalid_request_error", param: null, code } }, { status });

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search, searchParams } = new URL(request.url);
      const account = request.headers.get("authorization") ?? "";
      const text = await request.text();
      const body = text === "" ? null : (JSON.parse(text) as Record<string, any>);
      seen.push({ method: request.method, path: pathname, query: search, account, body });
      if (pathname === "/v1/responses" && body !== null) {
        const before = body.previous_response_id;
        if (before != null && kept.get(before)?.account !== account)
          return fault(400, `Previous response with id '${before}' not found.`, "previous_response_not_found");
        const id = vendor.nextId ?? `resp_${account.slice(-1)}${++count}`;
        vendor.nextId = null;
        const background = body.background === true;
        const one = { id, account, asked: body, background, status: background ? "queued" : "completed", text: "Hello there", polls: 0 };
        if (body.store !== false) kept.set(id, one);
        if (body.stream === true) return streamed(one);
        return Response.json(told(one));
      }
      const [, id = "", what] = /^\/v1\/responses\/([^/]+)(?:\/([a-z_]+))?$/.exec(pathname) ?? [];
      const one = kept.get(decodeURIComponent(id));
      if (one === undefined || one.account !== account) return fault(404, `Response with id '${id}' not found.`);
      if (request.method === "DELETE") {
        kept.delete(one.id);
        return Response.json({ id: one.id, object: "response.deleted", deleted: true });
      }
      if (what === "cancel") {
        if (!one.background) return fault(400, "Cannot cancel a synchronous response.");
        one.status = "cancelled";
        return Response.json(told(one));
      }
      if (what === "input_items") {
        const content = [{ type: "input_text", text: String(one.asked.input) }];
        const before = kept.get(one.asked.previous_response_id);
        const data = [{ id: "msg_in", type: "message", role: "user", content }, ...(before === undefined ? [] : [itemOf(before)])];
        return Response.json({ object: "list", data, first_id: "msg_in", last_id: "msg_in", has_more: false });
      }
      one.polls++;
      const lie = vendor.lie?.(one) ?? null;
      if (lie instanceof Response) return lie;
      if (lie !== null) return Response.json(lie);
      if (searchParams.get("stream") === "true") return streamed(one, Number(searchParams.get("starting_after") ?? -1));
      return Response.json(told(one));
    },
  });

  const vendor: ResponseVendor = {
    origin: `http://127.0.0.1:${server.port}`,
    kept,
    seen,
    nextId: null,
    lie: null,
    finish(text) {
      for (const one of kept.values()) {
        if (one.status === "completed" || one.status === "cancelled") continue;
        if (text !== undefined) one.text = text;
        one.status = "completed";
      }
      for (const resolve of open) resolve();
      open.clear();
    },
    async stop() {
      await server.stop(true);
    },
  };
  return vendor;
}
