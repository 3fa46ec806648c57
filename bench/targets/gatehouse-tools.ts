import type { Admin } from "./admin.ts";

/**
 * Registers the upstream as a tool server and grants it to the group. Returns its ID, which is its path segment. Throws unless discovery
 * succeeded.
 */
export async function registerToolServer(admin: Admin, name: string, baseUrl: string, groupId: string): Promise<string> {
  const server = await admin.post("/v1/admin/mcp-servers", {
    name: `bench-${name}`,
    base_url: baseUrl,
    mcp_endpoint_path: `/${name}`,
    auth_type: "bearer",
    api_key: "sk-bench-upstream",
    tenant_id: "default",
  });
  if (server["dialect"] === null) throw new Error(`the tool server was not recognised: ${JSON.stringify(server["discovery"])}`);
  const id = String(server["id"]);
  await admin.post("/v1/admin/server-configs", {
    name: `bench-${name}`,
    mcp_server_id: id,
    group_ids: [groupId],
    enabled: true,
    tenant_id: "default",
  });
  return id;
}

/** Performs the handshake through the gateway, once for all connections. Returns the session header. */
export async function openSession(url: string, headers: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const { "mcp-session-id": _placeholder, ...own } = headers;
  const post = (body: object, more: Record<string, string> = {}) =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...own, ...more },
      body: JSON.stringify({ jsonrpc: "2.0", ...body }),
      signal: AbortSignal.timeout(15_000),
    });
  const answer = await post({
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
  });
  const text = await answer.text();
  const session = answer.headers.get("mcp-session-id");
  if (session === null) throw new Error(`initialize gave ${answer.status} and no session: ${text.slice(0, 300)}`);
  await post({ method: "notifications/initialized" }, { "mcp-session-id": session });
  return { "mcp-session-id": session };
}
