const VERSION = "io.modelcontextprotocol/subscriptionId";
const CAPABILITIES = { tools: { listChanged: true }, resources: { listChanged: true, subscribe: true } };

/** A tool server that only sends change notifications, in one dialect, to all listeners. */
export interface ChangingServer {
  readonly baseUrl: string;
  /** Number of open streams. */
  listening(): number;
  /** Sends one notification to every listener. */
  tell(method: string, params?: object): void;
  /** From now on every stream, including open ones, gets `count` notifications as fast as they are read. */
  flood(method: string, params: object, count: number): void;
  /** Whether every listener has read the whole flood. */
  taken(): boolean;
  stop(): Promise<void>;
}

interface Listener {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  readonly mark: object;
  left: number;
}

export function startChangingServer(dialect: "handshake" | "stateless"): ChangingServer {
  const encoder = new TextEncoder();
  const listeners = new Set<Listener>();
  let flooding: { readonly method: string; readonly params: object; readonly count: number } | null = null;
  const frame = (mark: object, method: string, params: object) =>
    encoder.encode(`data: ${JSON.stringify({ jsonrpc: "2.0", method, params: { ...params, ...mark } })}\n\n`);
  /** Sends only as much as the stream requests (backpressure). */
  function pour(listener: Listener): void {
    while (flooding !== null && listener.left > 0 && (listener.controller.desiredSize ?? 0) > 0) {
      listener.left--;
      listener.controller.enqueue(frame(listener.mark, flooding.method, flooding.params));
    }
  }
  function stream(id: unknown): Response {
    let own: Listener;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        own = { controller, mark: dialect === "stateless" ? { _meta: { [VERSION]: id } } : {}, left: 0 };
        listeners.add(own);
        if (dialect === "stateless")
          controller.enqueue(
            frame(own.mark, "notifications/subscriptions/acknowledged", {
              notifications: { toolsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ["test://note"] },
            }),
          );
        else controller.enqueue(encoder.encode(": open\n\n"));
      },
      pull: () => pour(own),
      cancel: () => void listeners.delete(own),
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  }
  const results: Record<string, object> = {
    "server/discover": {
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: CAPABILITIES,
      ttlMs: 0,
      cacheScope: "private",
    },
    initialize: { protocolVersion: "2025-11-25", capabilities: CAPABILITIES, serverInfo: { name: "changing", version: "1" } },
    "tools/list": { resultType: "complete", tools: [], ttlMs: 0, cacheScope: "private" },
    "resources/subscribe": {},
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      if (request.method === "GET" && dialect === "handshake") return stream(null);
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const { id, method } = (await request.json()) as { id?: unknown; method: string };
      if (id === undefined) return new Response(null, { status: 202 });
      if (method === "subscriptions/listen" && dialect === "stateless") return stream(id);
      const result = method === (dialect === "stateless" ? "initialize" : "server/discover") ? undefined : results[method];
      if (result === undefined)
        return Response.json(
          { jsonrpc: "2.0", id, error: { code: -32601, message: "no such method" } },
          { status: dialect === "stateless" ? 404 : 200 },
        );
      return Response.json(
        { jsonrpc: "2.0", id, result },
        method === "initialize" ? { headers: { "mcp-session-id": crypto.randomUUID() } } : {},
      );
    },
  });
  return {
    baseUrl: `http://127.0.0.1:${server.port}`,
    listening: () => listeners.size,
    tell(method, params = {}) {
      for (const { controller, mark } of listeners) controller.enqueue(frame(mark, method, params));
    },
    flood(method, params, count) {
      flooding = { method, params, count };
      for (const listener of listeners) {
        listener.left = count;
        pour(listener);
      }
    },
    taken: () => [...listeners].every(({ left }) => left === 0),
    stop: () => server.stop(true),
  };
}
