/** A message as a tool server receives it; null for a request without a body. */
export type ToolMessage = { readonly id?: string | number; readonly method?: string; readonly params?: any } | null;

/** A custom answer: a response, or a result to be sent as JSON; undefined leaves the answer to the default script. */
export type ScriptedAnswer = (
  message: ToolMessage,
  request: Request,
) => Response | object | undefined | Promise<Response | object | undefined>;

export interface ScriptedToolServer {
  readonly baseUrl: string;
  readonly seen: { readonly http: string; readonly session: string | null; readonly text: string }[];
  stop(): Promise<void>;
}

const CAPABILITIES = { tools: { listChanged: true }, resources: { listChanged: true, subscribe: true } };

/** A tool server without an SDK; whatever `answer` leaves is answered as a server of the dialect would. */
export function startScriptedToolServer(dialect: "handshake" | "stateless", answer: ScriptedAnswer = () => undefined): ScriptedToolServer {
  const seen: ScriptedToolServer["seen"] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const text = await request.text();
      const message = text === "" ? null : (JSON.parse(text) as ToolMessage);
      seen.push({ http: request.method, session: request.headers.get("mcp-session-id"), text });
      const own = await answer(message, request);
      if (own instanceof Response) return own;
      if (own !== undefined) return result(message, own);
      if (message === null) return new Response(null, { status: 405 });
      if (message.id === undefined || message.method === undefined) return new Response(null, { status: 202 });
      if (dialect === "handshake" && message.method === "initialize")
        return result(
          message,
          { protocolVersion: "2025-11-25", capabilities: CAPABILITIES, serverInfo: { name: "scripted", version: "1" } },
          { "mcp-session-id": crypto.randomUUID() },
        );
      if (dialect === "stateless" && message.method === "server/discover")
        return result(message, {
          resultType: "complete",
          supportedVersions: ["2026-07-28"],
          capabilities: CAPABILITIES,
          ttlMs: 0,
          cacheScope: "private",
        });
      if (message.method.endsWith("/list"))
        return result(message, {
          resultType: "complete",
          ttlMs: 0,
          cacheScope: "private",
          tools: [toolNamed("open"), toolNamed("closed")],
          prompts: [],
          resources: [],
          resourceTemplates: [],
        });
      return Response.json(
        { jsonrpc: "2.0", id: message.id, error: { code: -32601, message: "no such method" } },
        { status: dialect === "stateless" ? 404 : 200 },
      );
    },
  });
  return { baseUrl: `http://127.0.0.1:${server.port}`, seen, stop: () => server.stop(true) };
}

export function toolNamed(name: string): { name: string; inputSchema: object } {
  return { name, inputSchema: { type: "object" } };
}

function result(message: ToolMessage, value: object, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: "2.0", id: message?.id, result: value }, { headers });
}

export function events(text: string, status = 200): Response {
  return new Response(text, { status, headers: { "content-type": "text/event-stream" } });
}
