import { grant, newTeam, post, stateless, type Team } from "../../e2e/tools/mcp-harness.ts";
import { type RawStream, rawStream } from "../formats/raw-stream.ts";
import { type ScriptedAnswer, type ScriptedToolServer, startScriptedToolServer } from "./scripted-tool-server.ts";
import { startWorld, type World } from "../world.ts";

/** A gateway with servers that follow the protocol's letter, or nearly, but not its conventions. */
export interface OddServers {
  readonly world: World;
  readonly team: Team;
  at(id: string): string;
  serve(
    name: string,
    dialect: "handshake" | "stateless",
    answer: ScriptedAnswer,
    config?: object,
  ): Promise<{ id: string; server: ScriptedToolServer }>;
  sessionAt(id: string): Promise<Record<string, string>>;
  listen(url: string, notifications?: object): RawStream;
  /** Registers the stream to be closed with everything else. */
  closing(stream: RawStream): RawStream;
  end(): Promise<void>;
}

export async function startOddServers(): Promise<OddServers> {
  const world = await startWorld();
  const team = await newTeam(world.admin, "odd");
  const servers: ScriptedToolServer[] = [];
  const streams: RawStream[] = [];
  const at = (id: string) => `${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`;
  const closing = (stream: RawStream) => {
    streams.push(stream);
    return stream;
  };
  return {
    world,
    team,
    at,
    closing,
    async serve(name, dialect, answer, config = {}) {
      const server = startScriptedToolServer(dialect, answer);
      servers.push(server);
      const { id } = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name, base_url: server.baseUrl, timeout: 2 });
      await grant(world.admin, name, id, [team.groupId], { ...config });
      return { id, server };
    },
    async sessionAt(id) {
      const begun = await post(at(id), team.apiKey, {
        jsonrpc: "2.0",
        id: 0,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
      });
      return { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
    },
    listen: (url, notifications = { toolsListChanged: true }) =>
      closing(
        rawStream(
          url,
          "POST",
          { accept: "application/json, text/event-stream", "x-api-key": team.apiKey, "mcp-protocol-version": "2026-07-28" },
          JSON.stringify(stateless("l", "subscriptions/listen", { notifications })),
        ),
      ),
    async end() {
      for (const stream of streams) stream.close();
      await Promise.all(servers.map((server) => server.stop()));
      await world.end();
    },
  };
}

export const inSession = (id: number, method: string, params: object = {}) => ({ jsonrpc: "2.0", id, method, params });

/** A handshake server that can lose its sessions, as in a restart; listeners get a change notification at once. */
export function forgetful() {
  const sessions = new Set<string | null>();
  const feeds = new Set<ReadableStreamDefaultController<Uint8Array>>();
  const listening = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    feeds.add(controller);
    controller.enqueue(
      new TextEncoder().encode(`data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/tools/list_changed" })}\n\n`),
    );
  };
  let away = false;
  const answer: ScriptedAnswer = (message, request) => {
    if (away) return new Response("", { status: 503 });
    if (message?.method === "initialize") {
      const id = crypto.randomUUID();
      sessions.add(id);
      return Response.json(
        {
          jsonrpc: "2.0",
          id: message.id,
          result: {
            protocolVersion: "2025-11-25",
            capabilities: { tools: { listChanged: true } },
            serverInfo: { name: "forgetful", version: "1" },
          },
        },
        { headers: { "mcp-session-id": id } },
      );
    }
    if (!sessions.has(request.headers.get("mcp-session-id")))
      return Response.json({ jsonrpc: "2.0", id: null, error: { code: -32001, message: "Session not found" } }, { status: 404 });
    return request.method === "GET"
      ? new Response(new ReadableStream({ start: listening }), { headers: { "content-type": "text/event-stream" } })
      : undefined;
  };
  const forget = (goes = false) => {
    away = goes;
    sessions.clear();
    for (const controller of feeds) controller.close();
    feeds.clear();
  };
  return { answer, forget };
}
