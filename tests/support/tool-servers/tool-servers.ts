import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { completable as handshakeCompletable } from "@modelcontextprotocol/sdk/server/completable.js";
import { McpServer as HandshakeServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { ElicitResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { completable, createMcpHandler, inputRequired, McpServer as StatelessServer } from "@modelcontextprotocol/server";
import { z } from "zod";

/** A request as received by a tool server. */
export interface SeenToolRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export interface ToolServerFixture {
  readonly baseUrl: string;
  readonly seen: SeenToolRequest[];
  /** Raw bytes of each complete answer, in order. */
  readonly sent: string[];
  stop(): Promise<void>;
}

/** An additional tool of a fixture; it returns its own name. */
export interface FurtherTool {
  readonly name: string;
  readonly description: string;
}

const TEXT = (text: string) => ({ content: [{ type: "text" as const, text }] });

async function many({ rows, wait_ms: wait = 0 }: { rows: number; wait_ms?: number | undefined }) {
  await new Promise((resolve) => setTimeout(resolve, wait));
  return TEXT(JSON.stringify(Array.from({ length: rows }, (_, id) => ({ id }))));
}

function serveFixture(answer: (request: Request) => Promise<Response>): ToolServerFixture {
  const seen: SeenToolRequest[] = [];
  const sent: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const body = await request.text();
      seen.push({ method: request.method, headers: Object.fromEntries(request.headers), body });
      const given = new Request(request.url, {
        method: request.method,
        headers: request.headers,
        signal: request.signal,
        ...(body === "" ? {} : { body }),
      });
      const response = await answer(given);
      if (response.headers.get("content-type")?.includes("json")) sent.push(await response.clone().text());
      return response;
    },
  });
  return { baseUrl: `http://127.0.0.1:${server.port}`, seen, sent, stop: () => server.stop(true) };
}

/** A server of the handshake dialect only, on the first official SDK, with sessions. */
export function startHandshakeServer(options: HandshakeOptions = {}): ToolServerFixture {
  return serveFixture(handshakeAnswers(options));
}

/** What a server tells clients about itself. */
export interface SaidOfItself {
  readonly instructions?: string;
  readonly info?: object;
}

interface HandshakeOptions extends SaidOfItself {
  readonly version?: string;
  readonly json?: boolean;
  readonly reports?: boolean;
  readonly further?: readonly FurtherTool[];
}

function handshakeAnswers(options: HandshakeOptions): (request: Request) => Promise<Response> {
  const transports = new Map<string, WebStandardStreamableHTTPServerTransport>();
  return async (request) => {
    const id = request.headers.get("mcp-session-id");
    if (id !== null)
      return (
        transports.get(id)?.handleRequest(request) ??
        Response.json({ jsonrpc: "2.0", error: { code: -32001, message: "Session not found" }, id: null }, { status: 404 })
      );
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      enableJsonResponse: options.json ?? false,
      onsessioninitialized: (session) => void transports.set(session, transport),
      onsessionclosed: (session) => void transports.delete(session),
    });
    const tools = handshakeTools(options.version ?? "1.2.3", options);
    if (options.reports === true) reportsOf(tools, { text: z.string() }, { text: handshakeCompletable(z.string(), suggested) });
    furtherOf(tools, options.further);
    await tools.connect(transport as never);
    return transport.handleRequest(request);
  };
}

/** A server of both dialects, with sessions in the handshake dialect. */
export function startServerOfBoth(): ToolServerFixture {
  const handshake = handshakeAnswers({});
  const stateless = createMcpHandler(() => statelessTools(), { legacy: "reject" });
  return serveFixture((request) =>
    request.headers.get("mcp-protocol-version") === "2026-07-28" ? stateless.fetch(request) : handshake(request),
  );
}

export function handshakeTools(version: string, { instructions = "Use the old tools.", info = {} }: SaidOfItself = {}): HandshakeServer {
  const server = new HandshakeServer({ name: "old-tools", version, ...info }, { instructions, capabilities: { logging: {} } });
  server.registerTool("echo", { description: "Says it again", inputSchema: { text: z.string() } }, async ({ text }) =>
    TEXT(`old: ${text}`),
  );
  server.registerTool("secret", { description: "Not for everybody" }, async () => TEXT("the secret"));
  server.registerTool("fail", { description: "Fails" }, async () => ({ ...TEXT("it failed"), isError: true }));
  server.registerTool("steps", { description: "Tells how far it is" }, async (extra) => {
    const token = extra._meta?.progressToken;
    for (const progress of [1, 2])
      if (token !== undefined)
        await extra.sendNotification({ method: "notifications/progress", params: { progressToken: token, progress, total: 2 } });
    return TEXT("done");
  });
  server.registerTool("ask", { description: "Asks who is there" }, async (extra) => {
    const answer = await extra.sendRequest(
      {
        method: "elicitation/create",
        params: {
          message: "Who is there?",
          requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
        },
      },
      ElicitResultSchema,
    );
    return TEXT(`hello ${answer.action === "accept" ? String(answer.content?.name) : answer.action}`);
  });
  server.registerTool("ask_aside", { description: "Asks on the session's stream" }, async () => {
    const answer = await server.server.elicitInput({
      message: "Who is there?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    });
    return TEXT(`hello ${answer.action === "accept" ? String(answer.content?.name) : answer.action}`);
  });
  server.registerTool(
    "many",
    { description: "Gives rows, after a while", inputSchema: { rows: z.number(), wait_ms: z.number().optional() } },
    many,
  );
  server.registerPrompt("greet", { description: "A greeting" }, async () => ({
    messages: [{ role: "user", content: { type: "text", text: "Say hello." } }],
  }));
  server.registerResource("note", "test://note", { mimeType: "text/plain" }, async (uri) => ({
    contents: [{ uri: uri.href, text: "an old note" }],
  }));
  return server;
}

/** A server of the stateless dialect only, on the second official SDK. */
export function startStatelessServer(
  options: SaidOfItself & { reports?: boolean; further?: readonly FurtherTool[] } = {},
): ToolServerFixture {
  const handler = createMcpHandler(
    () =>
      furtherOf(
        options.reports === true
          ? reportsOf(statelessTools(options), z.object({ text: z.string() }), z.object({ text: completable(z.string(), suggested) }))
          : statelessTools(options),
        options.further,
      ),
    { legacy: "reject" },
  );
  return serveFixture((request) => handler.fetch(request));
}

function statelessTools({ instructions = "Use the new tools.", info = {} }: SaidOfItself = {}): StatelessServer {
  const server = new StatelessServer({ name: "new-tools", version: "4.5.6", ...info }, { instructions });
  server.registerTool("echo", { description: "Says it again", inputSchema: z.object({ text: z.string() }) }, async ({ text }) =>
    TEXT(`new: ${text}`),
  );
  server.registerTool("secret", { description: "Not for everybody" }, async () => TEXT("the secret"));
  server.registerTool("ask", { description: "Asks who is there" }, async (context) => {
    const given = context.mcpReq.inputResponses?.["who"] as { action: string; content?: { name?: string } } | undefined;
    if (given === undefined) {
      return inputRequired({
        inputRequests: {
          who: inputRequired.elicit({
            message: "Who is there?",
            requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
          }),
        },
        requestState: "asked-once",
      }) as never;
    }
    return TEXT(`hello ${given.content?.name ?? given.action}`);
  });
  server.registerTool(
    "many",
    { description: "Gives rows, after a while", inputSchema: z.object({ rows: z.number(), wait_ms: z.number().optional() }) },
    many,
  );
  server.registerPrompt("greet", { description: "A greeting" }, async () => ({
    messages: [{ role: "user", content: { type: "text", text: "Say hello." } }],
  }));
  server.registerResource("note", "test://note", { mimeType: "text/plain" }, async (uri) => ({
    contents: [{ uri: uri.href, text: "a new note" }],
  }));
  return server;
}

function furtherOf<Server extends HandshakeServer | StatelessServer>(server: Server, tools: readonly FurtherTool[] = []): Server {
  for (const { name, description } of tools) (server as HandshakeServer).registerTool(name, { description }, async () => TEXT(name));
  return server;
}

const suggested = (value: string) => [value, `nobody, or ${value}`];

/**
 * Registers tools, resources and prompts that return the argument `text` in every form that holds text. `schema` is in the form the
 * server's SDK takes.
 */
function reportsOf<Server extends HandshakeServer | StatelessServer>(server: Server, schema: unknown, ofPrompt: unknown): Server {
  const any = server as HandshakeServer;
  any.registerTool("report", { description: "Reports", inputSchema: schema as never }, (async ({ text }: { text: string }) => ({
    content: [
      { type: "text", text: `Says ${text}` },
      { type: "text", text: JSON.stringify({ said: text, many: 1.5 }) },
      { type: "resource", resource: { uri: "test://kept", mimeType: "text/plain", text: `Holds ${text}` } },
    ],
    structuredContent: { said: text, deep: [{ said: text }], count: 3 },
  })) as never);
  any.registerPrompt("quote", { description: "Quotes", argsSchema: ofPrompt as never }, (async ({ text }: { text: string }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Quotes ${text}` } }],
  })) as never);
  any.registerResource("contact", "test://contact", { mimeType: "text/plain" }, async (uri) => ({
    contents: [{ uri: uri.href, text: "Write to joe@example.com" }],
  }));
  return server;
}
