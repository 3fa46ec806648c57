import { isDeepStrictEqual } from "node:util";
import { listOf, pageQuery } from "@gatehouse/contracts/conventions";
import {
  acceptDefinitions,
  definitionDrift,
  mcpHealth,
  mcpServer,
  mcpServerCreate,
  mcpServerQuery,
  mcpServerUpdate,
  mcpSnapshot,
  type McpServer,
  refreshBody,
  refreshResult,
  testConnectionBody,
  testConnectionResult,
} from "@gatehouse/contracts/mcp-servers";
import { acceptToolDefinitions } from "../../../directory/tools/accept-definitions.ts";
import { readDefinitionDrift } from "../../../directory/tools/definition-drift.ts";
import {
  ICON_BYTES,
  listMcpSnapshots,
  mcpServers,
  probedMcpServer,
  recordDiscovery,
  recordServerHealth,
  ServerMoved,
  setMcpServerIcon,
} from "../../../directory/tools/mcp-servers.ts";
import { endpointUrl, type ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import type { Discovery } from "../../../services/tools/definitions/discovery.ts";
import { readBody } from "../../../road/request/read-body.ts";
import { isRefusal, refuse, Refused } from "../../../kernel/errors.ts";
import { formFile } from "../../../wire/http/form-file.ts";
import { diffTools } from "../../../wire/mcp/tool-diff.ts";
import { type AdminCall, operation, type AdminOperation } from "../operation.ts";
import { idOf, listed, resource } from "../resource.ts";

const PATH = "/v1/admin/mcp-servers";
const ONE = { tag: "Tool servers", reach: "one", subject: "mcp_servers", textParams: ["id"] } as const;
const writing = { ...ONE, access: "tools:write" } as const;

const generic = resource({
  path: PATH,
  key: "mcp_servers",
  noun: "tool server",
  tag: "Tool servers",
  area: "tools",
  table: "mcp_servers",
  records: mcpServers,
  query: mcpServerQuery,
  create: mcpServerCreate,
  update: mcpServerUpdate,
  read: mcpServer,
  notes: {
    remove:
      "Its snapshots go with it, and what groups set for it. Refused with in_use while it has configurations or a virtual server has it.",
  },
})
  .filter(({ method }) => method !== "POST")
  .map((one) => ({ ...one, textParams: ["id"] }));

/** Removes members that only writes return. */
function record(answer: unknown): unknown {
  const { discovery: _discovery, ...server } = answer as McpServer;
  return server;
}

/** Whether a server's address or credential has changed, so that what is known of it may not be valid any more. */
function needsDiscovery(before: McpServer, after: McpServer, newKey: boolean): boolean {
  if (before.updated_at === after.updated_at || !after.enabled) return false;
  const connectionFacts = (server: McpServer) => [
    server.base_url,
    server.mcp_endpoint_path,
    server.auth_type,
    server.has_api_key,
    server.enabled,
  ];
  return newKey || !isDeepStrictEqual(connectionFacts(before), connectionFacts(after));
}

/** Runs a discovery and returns the server together with the result. */
async function discovered(call: Pick<AdminCall<unknown, unknown>, "services" | "tenantId" | "write">, id: string): Promise<McpServer> {
  const discovery = await refresh(call, id);
  return { ...(await mcpServers.get(call.services.directory, call.tenantId, id)), discovery };
}

const change = operation({
  ...writing,
  method: "PATCH",
  path: `${PATH}/{id}`,
  summary: "Change a tool server",
  description:
    "Members left out of the body stay unchanged. If its address or credentials change, the server is discovered again; " +
    "`discovery` has the result.",
  body: mcpServerUpdate,
  answer: { status: 200, about: "The record as it is now", schema: mcpServer, record },
  async run(call) {
    const before = await mcpServers.get(call.services.directory, call.tenantId, idOf(call));
    const after = await call.write((write) => mcpServers.update(write, call.tenantId, idOf(call), call.body));
    return needsDiscovery(before, after, call.body.api_key != null) ? discovered(call, after.id) : after;
  },
});

export const mcpServerOperations: readonly AdminOperation[] = [
  ...generic.map((one) => (one.method === "PATCH" ? change : one)),
  operation({
    tag: "Tool servers",
    access: "tools:write",
    reach: "one",
    method: "POST",
    path: PATH,
    summary: "Register a tool server",
    description:
      "One record for each base_url and mcp_endpoint_path: a second one is a 409 with existing_id. The server is discovered at once; " +
      "`discovery` has the result.",
    body: mcpServerCreate,
    answer: { status: 201, about: "The record made", schema: mcpServer, record },
    async run(call) {
      const made = await call.write((write) => mcpServers.create(write, call.tenantId, call.body));
      return discovered(call, made.id);
    },
  }),
  operation({
    ...writing,
    method: "POST",
    path: `${PATH}/{id}/refresh-capabilities`,
    summary: "Discover again what a tool server offers",
    description:
      "Stores a snapshot, and returns how the tools differ from the previous ones. An inconclusive result changes nothing. A server " +
      "behind OAuth needs one of its own tokens, as `access_token`.",
    body: refreshBody,
    answer: { status: 200, about: "What was found", schema: refreshResult, record: (answer) => (answer as { server: McpServer }).server },
    async run(call) {
      const { status, detail, diff } = await refresh(call, idOf(call), call.body.access_token);
      return { status, detail, diff, server: await mcpServers.get(call.services.directory, call.tenantId, idOf(call)) };
    },
  }),
  operation({
    ...writing,
    method: "POST",
    path: `${PATH}/{id}/health-check`,
    summary: "Probe a tool server",
    answer: { status: 200, about: "What the probe found", schema: mcpHealth },
    async run(call) {
      const server = await probedMcpServer(call.services.directory, call.tenantId, idOf(call));
      const { status, detail } = await call.services.toolServers.discover(server);
      const healthy = status === "found";
      const at = await recordServerHealth(call.services.directory, call.tenantId, server.id, server.url, healthy);
      return { id: server.id, is_healthy: healthy, status, detail, health_checked_at: at.toISOString() };
    },
  }),
  operation({
    ...writing,
    method: "POST",
    path: `${PATH}/{id}/icon`,
    summary: "Give a tool server an icon",
    description: "multipart/form-data with the file as `file`: JPEG, PNG, WebP or GIF, at most 64 KB.",
    upload: "file",
    answer: { status: 200, about: "The record as it is now", schema: mcpServer },
    async run(call) {
      await mcpServers.get(call.services.directory, call.tenantId, idOf(call));
      const body = await readBody(call.request, ICON_BYTES * 2);
      if (isRefusal(body)) throw new Refused(body);
      const file = await formFile(body, call.request.headers.get("content-type"), "file");
      if (file === null)
        throw new Refused(
          refuse("invalid_body", "file is required, as multipart/form-data", {
            fields: [{ field: "file", message: "is required, as multipart/form-data" }],
          }),
        );
      return call.write((write) => setMcpServerIcon(write, call.tenantId, idOf(call), file, "file"));
    },
  }),
  operation({
    tag: "Tool servers",
    access: "tools:write",
    reach: "one",
    method: "POST",
    path: `${PATH}/test-connection`,
    summary: "Try an address before registering it",
    description: "Stores nothing. If the server requires a credential, returns how it says to authorize.",
    body: testConnectionBody,
    answer: { status: 200, about: "What was found", schema: testConnectionResult },
    async run(call) {
      const {
        base_url: baseUrl,
        mcp_endpoint_path: path = "/mcp",
        auth_type: authType = "none",
        api_key: apiKey = null,
        timeout = 15,
      } = call.body;
      return tested(await call.services.toolServers.discover(unregistered(endpointUrl(baseUrl, path), baseUrl, authType, apiKey, timeout)));
    },
  }),
  operation({
    ...ONE,
    access: "tools:read",
    method: "GET",
    path: `${PATH}/{id}/snapshots`,
    summary: "List what discoveries found",
    description: "Newest first, each with how its tools differ from those before.",
    query: pageQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("snapshots", mcpSnapshot) },
    run: (call) => listed("snapshots", call, (page) => listMcpSnapshots(call.services.directory, call.tenantId, idOf(call), page)),
  }),
  operation({
    ...ONE,
    access: "tools:read",
    method: "GET",
    path: `${PATH}/{id}/definition-drift`,
    summary: "Read how tools differ from those that were accepted",
    description: "Each tool that was added, removed or changed since, with both definitions and the configurations that name it.",
    answer: { status: 200, about: "What differs; nothing when all is as accepted", schema: definitionDrift },
    run: (call) => readDefinitionDrift(call.services.directory, call.tenantId, idOf(call)),
  }),
  operation({
    ...writing,
    method: "POST",
    path: `${PATH}/{id}/accept-definitions`,
    summary: "Accept the latest tool definitions",
    description: "Later discoveries are compared with these. Refused with conflict if the server was discovered again meanwhile.",
    body: acceptDefinitions,
    answer: { status: 200, about: "What differs from now on", schema: definitionDrift },
    async run(call) {
      await call.write((write) => acceptToolDefinitions(write, call.tenantId, idOf(call), call.body.snapshot_id));
      return readDefinitionDrift(call.services.directory, call.tenantId, idOf(call));
    },
  }),
];

async function refresh(call: Pick<AdminCall<unknown, unknown>, "services" | "tenantId" | "write">, id: string, accessToken?: string) {
  const { directory, toolServers } = call.services;
  const server = await probedMcpServer(directory, call.tenantId, id);
  const discovery = await toolServers.discover(
    accessToken === undefined || server.authType !== "oauth" ? server : { ...server, authType: "bearer", credential: accessToken },
  );
  const { status, detail } = discovery;
  if (discovery.status !== "found") return { status, detail, diff: null };
  try {
    return {
      status,
      detail,
      diff: await call.write((write) => recordDiscovery(write, call.tenantId, id, server.url, discovery.found, diffTools)),
    };
  } catch (error) {
    if (!(error instanceof ServerMoved)) throw error;
    return { status: "inconclusive" as const, detail: error.message, diff: null };
  }
}

function unregistered(
  url: string,
  baseUrl: string,
  authType: ToolServerEntry["authType"],
  credential: string | null,
  timeoutSeconds: number,
): ToolServerEntry {
  return {
    id: "",
    name: "",
    baseUrl,
    url,
    authType: credential === null ? authType : "bearer",
    credential,
    timeoutMs: timeoutSeconds * 1000,
    enabled: true,
    iconUrl: null,
    dialect: null,
    protocolVersion: null,
    serverName: null,
    serverVersion: null,
    serverInfo: null,
    capabilities: {},
    instructions: null,
    handshake: null,
    tools: new Map(),
  };
}

function tested(discovery: Discovery) {
  const found = discovery.status === "found" ? discovery.found : null;
  return {
    status: discovery.status,
    detail: discovery.detail,
    dialect: found?.dialect ?? null,
    protocol_version: found?.protocolVersion ?? null,
    server_name: found?.serverName ?? null,
    server_version: found?.serverVersion ?? null,
    tools: found?.toolIndex.map(({ name }) => name) ?? [],
    oauth: discovery.status === "unauthorized" ? discovery.oauth : null,
  };
}
