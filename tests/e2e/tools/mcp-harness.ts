import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FirstTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { AdminClient } from "../../support/worlds/admin.ts";

/** A resource group with a key. */
export interface Team {
  readonly groupId: string;
  readonly apiKey: string;
  readonly apiKeyId: string;
}

export async function newTeam(admin: AdminClient, name: string, rest: Record<string, unknown> = {}, tenantId = "default"): Promise<Team> {
  const group = await admin.post("/v1/admin/resource-groups", { tenant_id: tenantId, name, group_type: "team", ...rest });
  const key = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: `${name} key`, access_mode: "shared" });
  return { groupId: group.id, apiKey: key.key_value, apiKeyId: key.id };
}

export async function grant(
  admin: AdminClient,
  name: string,
  serverId: string,
  groupIds: readonly string[],
  rest: Record<string, unknown> = {},
): Promise<any> {
  return admin.post("/v1/admin/server-configs", {
    tenant_id: "default",
    mcp_server_id: serverId,
    name,
    group_ids: groupIds,
    enabled: true,
    ...rest,
  });
}

const answerOf = (name: string) => async () => ({ action: "accept" as const, content: { name } });

/** The first official client, which only speaks the handshake dialect. `name` is its answer when a server asks. */
export async function handshakeClient(
  url: string,
  apiKey: string,
  headers: Record<string, string> = {},
  name = "Ada",
): Promise<FirstClient> {
  const client = new FirstClient({ name: "first", version: "1" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, answerOf(name));
  await client.connect(new FirstTransport(new URL(url), { requestInit: { headers: { "x-api-key": apiKey, ...headers } } }) as never);
  return client;
}

/** The second official client, restricted to the stateless dialect. */
export async function statelessClient(url: string, apiKey: string, headers: Record<string, string> = {}, name = "Ada"): Promise<Client> {
  const client = new Client(
    { name: "second", version: "1" },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  client.setRequestHandler("elicitation/create", answerOf(name));
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { "x-api-key": apiKey, ...headers } } }));
  return client;
}

export function textOf(result: unknown): string {
  return ((result as { content: { text: string }[] }).content[0] as { text: string }).text;
}

/** Sends a message as a client without an SDK would. */
export async function post(
  url: string,
  apiKey: string,
  message: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; text: string; body: any }> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", "x-api-key": apiKey, ...headers },
    body: typeof message === "string" ? message : JSON.stringify(message),
  });
  const text = await response.text();
  const data = response.headers.get("content-type")?.startsWith("text/event-stream")
    ? text
        .split("\n")
        .findLast((line) => line.startsWith("data:"))
        ?.slice(5)
    : text;
  return { status: response.status, headers: response.headers, text, body: data === undefined || data === "" ? null : JSON.parse(data) };
}

export const stateless = (id: number | string, method: string, params: Record<string, unknown> = {}) => ({
  jsonrpc: "2.0",
  id,
  method,
  params: {
    ...params,
    _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } },
  },
});
