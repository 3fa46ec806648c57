import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FirstTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { rowOf } from "../../support/worlds/admin.ts";
import { startAppServer } from "../../support/tool-servers/app-server.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, type Team } from "./mcp-harness.ts";

const HOST = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } };
const servers = { handshake: startAppServer("handshake"), stateless: startAppServer("stateless") };
const ids: Record<string, string> = {};
let world: World;
let team: Team;
let narrow: Team;

beforeAll(async () => {
  world = await startWorld();
  team = await newTeam(world.admin, "apps");
  narrow = await newTeam(world.admin, "no payroll", { parent_group_id: team.groupId });
  for (const [dialect, { baseUrl }] of Object.entries(servers)) {
    ids[dialect] = (await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: dialect, base_url: baseUrl })).id;
    await grant(world.admin, `${dialect} for all`, ids[dialect] as string, [team.groupId]);
    await grant(world.admin, `${dialect} for few`, ids[dialect] as string, [narrow.groupId], { disabled_tools: ["payroll"] });
  }
  ids.virtual = (
    await world.admin.post("/v1/admin/virtual-servers", {
      tenant_id: "default",
      name: "both",
      members: [
        { mcp_server_id: ids.stateless, slug: "s" },
        { mcp_server_id: ids.handshake, slug: "h" },
      ],
      group_ids: [team.groupId],
    })
  ).id;
});
afterAll(async () => {
  await Promise.all(Object.values(servers).map((server) => server.stop()));
  await world.end();
});

const address = (id: string) => `${world.gateway.runtimeUrl}/v1/proxy/${id.startsWith("v") ? "vmcp" : "mcp"}/${id}`;

async function listed(dialect: string, id: string, capabilities: object): Promise<any[]> {
  const url = new URL(address(id));
  const headers = { requestInit: { headers: { "x-api-key": team.apiKey } } };
  if (dialect === "handshake") {
    const first = new FirstClient({ name: "first", version: "1" }, { capabilities: capabilities as never });
    await first.connect(new FirstTransport(url, headers) as never);
    const { tools } = await first.listTools();
    await first.close();
    return tools;
  }
  const second = new Client(
    { name: "second", version: "1" },
    { capabilities: capabilities as never, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  await second.connect(new StreamableHTTPClientTransport(url, headers));
  const { tools } = await second.listTools();
  await second.close();
  return tools;
}

describe.each(["handshake", "stateless"])("a %s client", (client) => {
  test.each(["handshake", "stateless"])(
    "gets all tools of a %s server with their UI if it supports apps, else only the tools for models",
    async (server) => {
      const all = await listed(client, ids[server] as string, HOST);
      expect(all.map(({ name }) => name)).toEqual(["chart", "refresh", "payroll"]);
      expect(all[0]._meta).toMatchObject({ ui: { resourceUri: "ui://charts/main", visibility: ["model", "app"] }, vendor: { kept: true } });
      expect((await listed(client, ids[server] as string, {})).map(({ name }) => name)).toEqual(["chart", "payroll"]);
    },
  );

  test("gets the same from a virtual server, whose UI resources have URIs of their own", async () => {
    const all = await listed(client, ids.virtual as string, HOST);
    expect(all.map(({ name }) => name).sort()).toEqual(["h__chart", "h__payroll", "h__refresh", "s__chart", "s__payroll", "s__refresh"]);
    expect(all.find(({ name }) => name === "s__chart")._meta.ui.resourceUri).toBe("ui://s__charts/main");
    expect((await listed(client, ids.virtual as string, {})).some(({ name }) => name.endsWith("refresh"))).toBe(false);
  });
});

describe("the UI resource", () => {
  const read = async (server: string, uri: string, key = team.apiKey) => {
    const response = await fetch(`${world.gateway.runtimeUrl}/v1/portal/mcp-apps/${ids[server]}/resource?${new URLSearchParams({ uri })}`, {
      headers: { "x-api-key": key },
    });
    return { status: response.status, body: (await response.json()) as any };
  };

  const readDirectly = (uri: string, id = ids.stateless as string, key = narrow.apiKey) =>
    fetch(address(id), {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "x-api-key": key,
        "mcp-protocol-version": "2026-07-28",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "resources/read",
        params: {
          uri,
          _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} },
        },
      }),
    });

  test.each(["handshake", "stateless"])("of a %s server is read with its own metadata, and leaves a row", async (server) => {
    const { status, body } = await read(server, "ui://charts/main");
    expect([status, body.uri, body.mime_type, body.content, body.size_bytes]).toEqual([
      200,
      "ui://charts/main",
      "text/html;profile=mcp-app",
      "<h1>ui://charts/main</h1>",
      25,
    ]);
    expect(body._meta.ui).toEqual({
      csp: { connectDomains: ["https://api.example"] },
      permissions: { clipboardWrite: {} },
      prefersBorder: true,
    });
    expect(await rowOf(world.admin, { proxy_subtype: "mcp_app_resource", server_id: ids[server] })).toMatchObject({
      proxy_type: "portal",
      mcp_method: "resources/read",
      mcp_capability_name: "ui://charts/main",
      success: true,
    });
  });

  test.each(["handshake", "stateless"])("of a %s server without metadata of its own gets that of the resource list", async (server) => {
    const { body } = await read(server, "ui://listed/main");
    expect([body.content, body._meta.ui.csp]).toEqual(["<h1>listed</h1>", { connectDomains: ["https://api.example"] }]);
  });

  test.each([
    ["sends nothing", () => undefined, 504, "upstream_timeout"],
    ["ends its stream without an answer", (controller: ReadableStreamDefaultController) => controller.close(), 502, "upstream_interrupted"],
  ] as const)("of a server that %s times out or fails like any other answer", async (_name, goOn, status, code) => {
    const stuck = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      idleTimeout: 0,
      async fetch(request) {
        const body = await request.text();
        if (!body.includes("resources/read"))
          return fetch(servers.stateless.baseUrl + new URL(request.url).pathname, {
            method: request.method,
            headers: request.headers,
            body,
          });
        const begun = new ReadableStream({
          async pull(controller) {
            controller.enqueue(new TextEncoder().encode(": hello\n\n"));
            goOn(controller);
            await new Promise(() => undefined);
          },
        });
        return new Response(begun, { headers: { "content-type": "text/event-stream" } });
      },
    });
    ids[code] = (
      await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: code, base_url: stuck.url.origin, timeout: 1 })
    ).id;
    await grant(world.admin, code, ids[code] as string, [team.groupId]);
    const answer = await read(code, "ui://charts/main");
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    await stuck.stop(true);
  });

  test("of a tool the caller may not use is refused, through the portal and directly", async () => {
    expect((await read("stateless", "ui://payroll/main")).status).toBe(200);
    const refused = await read("stateless", "ui://payroll/main", narrow.apiKey);
    expect([refused.status, refused.body.code]).toEqual([403, "tool_not_allowed"]);
    const direct = await readDirectly("ui://payroll/main");
    expect(direct.status).toBe(403);
  });

  test.each(["UI://payroll/main", "ui://payroll/./main", "ui://payroll/x/../main", "ui://payroll/ma\tin", " ui://payroll/main"])(
    "of a tool the caller may not use is refused under another spelling of its URI: %j",
    async (uri) => {
      expect((await readDirectly(uri)).status).toBe(403);
      for (const named of [uri.replace("payroll", "s__payroll"), `s+${uri}`])
        expect((await readDirectly(named, ids.virtual)).status).toBe(403);
    },
  );

  test.each([
    ["an unknown URI", "ui://nowhere/main", 404],
    ["a page that is not an app", "ui://plain/main", 404],
    ["another URI scheme", "file:///etc/passwd", 400],
    ["an empty URI", "", 400],
  ])("is refused: %s", async (_name, uri, status) => {
    expect((await read("stateless", uri)).status).toBe(status);
  });

  test("of an unknown server, an ungranted one or without a credential is refused", async () => {
    const stranger = await newTeam(world.admin, "stranger");
    expect((await read("stateless", "ui://charts/main", stranger.apiKey)).status).toBe(403);
    expect((await read("gone", "ui://charts/main")).status).toBe(404);
    expect((await read("stateless", "ui://charts/main", "")).status).toBe(401);
  });
});
