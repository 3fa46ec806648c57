import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import {
  CompleteRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  ListRootsResultSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { INFO, PROMPTS, RESOURCES, type Session, TEMPLATE, templated, TOOLS } from "./contract.ts";

const RESULTS = {
  "elicitation/create": ElicitResultSchema,
  "sampling/createMessage": CreateMessageResultSchema,
  "roots/list": ListRootsResultSchema,
};

type Extra = {
  _meta?: { progressToken?: string | number };
  sendNotification(notification: never): Promise<void>;
  sendRequest(request: never, schema: never): Promise<any>;
};

function sessionOf(made: McpServer, extra: Extra): Session {
  const capabilities = (made.server.getClientCapabilities() ?? {}) as Record<string, unknown>;
  return {
    progressToken: extra._meta?.progressToken,
    notify: (method, params) => extra.sendNotification({ method, params } as never),
    log: (data) => extra.sendNotification({ method: "notifications/message", params: { level: "info", data } } as never),
    async ask(requests) {
      const answers = Object.entries(requests).map(
        async ([key, request]) => [key, await extra.sendRequest(request as never, RESULTS[request.method] as never)] as const,
      );
      return Object.fromEntries(await Promise.all(answers));
    },
    can: (capability) => capabilities[capability] !== undefined,
    changed: (list) => (list === "tools" ? made.sendToolListChanged() : made.sendPromptListChanged()),
  };
}

function server(): McpServer {
  const made = new McpServer(INFO, {
    capabilities: {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      logging: {},
      completions: {},
    },
  });
  for (const [name, { description, properties = {}, run }] of Object.entries(TOOLS)) {
    const shape = Object.fromEntries(
      Object.entries(properties).map(([key, type]) => [key, type === "string" ? z.string() : z.record(z.string(), z.unknown())]),
    );
    const call = async (args: Record<string, unknown>, extra: Extra) => ({ content: await run(sessionOf(made, extra), args) });
    // A tool without a schema must accept calls without arguments too.
    if (Object.keys(shape).length === 0) made.registerTool(name, { description }, ((extra: Extra) => call({}, extra)) as never);
    else made.registerTool(name, { description, inputSchema: shape }, call as never);
  }
  for (const [name, { description, args = [], run }] of Object.entries(PROMPTS)) {
    const get = async (given: Record<string, string>, extra: Extra) => ({
      messages: (await run(sessionOf(made, extra), given)).map((content) => ({ role: "user", content })),
    });
    if (args.length === 0) made.registerPrompt(name, { description }, ((extra: Extra) => get({}, extra)) as never);
    else made.registerPrompt(name, { description, argsSchema: Object.fromEntries(args.map((arg) => [arg, z.string()])) }, get as never);
  }
  for (const [uri, { mimeType, content }] of Object.entries(RESOURCES))
    made.registerResource(uri.slice(7), uri, { mimeType }, async () => ({ contents: [{ uri, mimeType, ...content }] }));
  made.registerResource(
    "template",
    new ResourceTemplate(TEMPLATE, { list: undefined }),
    { mimeType: "application/json" },
    async (uri, { id }) => ({ contents: [{ uri: uri.href, ...templated(String(id)) }] }),
  );
  made.server.setRequestHandler(SubscribeRequestSchema, async () => ({}));
  made.server.setRequestHandler(UnsubscribeRequestSchema, async () => ({}));
  made.server.setRequestHandler(SetLevelRequestSchema, async () => ({}));
  made.server.setRequestHandler(CompleteRequestSchema, async () => ({ completion: { values: [], total: 0, hasMore: false } }));
  return made;
}

/** The fixture, only in the handshake dialect, with sessions. */
export function handshakeFixture(): { fetch(request: Request): Promise<Response> } {
  const transports = new Map<string, WebStandardStreamableHTTPServerTransport>();
  return {
    async fetch(request) {
      const id = request.headers.get("mcp-session-id");
      if (id !== null)
        return (
          transports.get(id)?.handleRequest(request) ??
          Response.json({ jsonrpc: "2.0", error: { code: -32001, message: "Session not found" }, id: null }, { status: 404 })
        );
      const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => crypto.randomUUID(),
        onsessioninitialized: (session) => void transports.set(session, transport),
        onsessionclosed: (session) => void transports.delete(session),
      });
      await server().connect(transport as never);
      return transport.handleRequest(request);
    },
  };
}
