import {
  createMcpHandler,
  createRequestStateCodec,
  inputRequired,
  McpServer,
  ResourceTemplate,
  type McpHttpHandler,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { INFO, PROMPTS, RESOURCES, type Session, TEMPLATE, templated, TOOLS } from "./contract.ts";

const codec = createRequestStateCodec<Record<string, unknown>>({ key: new Uint8Array(32).fill(9) });

/** Thrown where a handler needs input; converted into the result that asks for it. */
class Asking extends Error {
  readonly result: unknown;
  constructor(result: unknown) {
    super("asking");
    this.result = result;
  }
}

function sessionOf(context: ServerContext, notify: () => McpHttpHandler["notify"]): Session {
  const { mcpReq } = context;
  const capabilities = ((mcpReq.envelope as Record<string, unknown> | undefined)?.["io.modelcontextprotocol/clientCapabilities"] ??
    {}) as Record<string, unknown>;
  return {
    progressToken: mcpReq._meta?.progressToken,
    notify: (method, params) => mcpReq.notify({ method, params } as never),
    log: (data) => mcpReq.log("info", data),
    async ask(requests, stated = false) {
      const given = { ...mcpReq.requestState<Record<string, unknown>>(), ...mcpReq.inputResponses };
      const open = Object.entries(requests).filter(([key]) => given[key] === undefined);
      if (open.length === 0) return given as Record<string, any>;
      throw new Asking(
        inputRequired({ inputRequests: Object.fromEntries(open) as never, ...(stated ? { requestState: await codec.mint(given) } : {}) }),
      );
    },
    can: (capability) => capabilities[capability] !== undefined,
    changed: (list) => (list === "tools" ? notify().toolsChanged() : notify().promptsChanged()),
  };
}

async function answered<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof Asking) return error.result as T;
    throw error;
  }
}

function server(notify: () => McpHttpHandler["notify"]): McpServer {
  const made = new McpServer(INFO, {
    capabilities: {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      logging: {},
      completions: {},
    },
    requestState: { verify: codec.verify },
  });
  for (const [name, { description, properties = {}, run }] of Object.entries(TOOLS)) {
    const shape = Object.fromEntries(
      Object.entries(properties).map(([key, type]) => [key, type === "string" ? z.string() : z.record(z.string(), z.unknown())]),
    );
    made.registerTool(
      name,
      { description, inputSchema: z.object(shape) },
      (args, context) => answered(async () => ({ content: await run(sessionOf(context, notify), args) })) as never,
    );
  }
  for (const [name, { description, args = [], run }] of Object.entries(PROMPTS)) {
    const argsSchema = z.object(Object.fromEntries(args.map((arg) => [arg, z.string()])));
    const get = (given: Record<string, string>, context: ServerContext) =>
      answered(async () => ({
        messages: (await run(sessionOf(context, notify), given)).map((content) => ({ role: "user", content })),
      })) as never;
    if (args.length === 0) made.registerPrompt(name, { description }, (context: ServerContext) => get({}, context));
    else made.registerPrompt(name, { description, argsSchema }, get as never);
  }
  for (const [uri, { mimeType, content }] of Object.entries(RESOURCES))
    made.registerResource(uri.slice(7), uri, { mimeType }, async () => ({ contents: [{ uri, mimeType, ...content }] }));
  made.registerResource(
    "template",
    new ResourceTemplate(TEMPLATE, { list: undefined }),
    { mimeType: "application/json" },
    async (uri, { id }) => ({ contents: [{ uri: uri.href, ...templated(String(id)) }] }),
  );
  made.server.setRequestHandler("completion/complete", async () => ({ completion: { values: [], total: 0, hasMore: false } }));
  return made;
}

/** The fixture, only in the stateless dialect. */
export function statelessFixture(): { fetch(request: Request): Promise<Response> } {
  const handler: McpHttpHandler = createMcpHandler(() => server(() => handler.notify), { legacy: "reject" });
  return { fetch: (request) => handler.fetch(request) };
}
