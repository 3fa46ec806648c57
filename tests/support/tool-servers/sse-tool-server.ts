import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { handshakeTools } from "./tool-servers.ts";

export interface SseToolServer {
  readonly baseUrl: string;
  /** Open connections. */
  readonly open: ReadonlySet<string>;
  /** Names of the tools called, in order. */
  readonly called: readonly string[];
  /** Breaks all connections, as in a restart. */
  breakOff(): void;
  stop(): Promise<void>;
}

/**
 * A tool server with only the HTTP+SSE transport, on the first official SDK: `GET /sse` streams and names the address to post messages to.
 * All other requests, including POST, are 404. `token`: the bearer token it requires.
 */
export async function startSseToolServer(token: string | null = null): Promise<SseToolServer> {
  const transports = new Map<string, SSEServerTransport>();
  const streams = new Set<ServerResponse>();
  const open = new Set<string>();
  const called: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    if (token !== null && request.headers.authorization !== `Bearer ${token}`) return void response.writeHead(401).end();
    if (request.method === "GET" && url.pathname === "/sse") {
      const transport = new SSEServerTransport("/messages", response);
      transports.set(transport.sessionId, transport);
      open.add(transport.sessionId);
      streams.add(response);
      response.on("close", () => {
        streams.delete(response);
        open.delete(transport.sessionId);
        transports.delete(transport.sessionId);
      });
      return handshakeTools("0.9.0").connect(transport as never);
    }
    const transport = url.pathname === "/messages" ? transports.get(url.searchParams.get("sessionId") ?? "") : undefined;
    if (request.method === "POST" && transport !== undefined) {
      const message = JSON.parse(await textOf(request));
      if (message.method === "tools/call") called.push(message.params.name);
      return transport.handlePostMessage(request as never, response, message);
    }
    response.writeHead(404).end(`Cannot ${request.method} ${url.pathname}`);
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const breakOff = () => {
    for (const stream of streams) stream.destroy();
  };
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    open,
    called,
    breakOff,
    async stop() {
      breakOff();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
