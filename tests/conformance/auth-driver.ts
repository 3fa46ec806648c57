/**
 * Run by the conformance suite as if it were the client under test. Registers the suite's server with a gateway as one that requires
 * authorization, then calls it through the gateway as a client that knows nothing about OAuth, while a scripted user opens the connect
 * URLs. The OAuth client that the suite sees is the gateway's broker.
 */
import { grant } from "../e2e/tools/mcp-harness.ts";
import { signIn } from "../support/worlds/admin.ts";
import { ScriptedBrowser } from "../support/identity/browser.ts";

const {
  DRIVER_ADMIN_URL = "",
  DRIVER_RUNTIME_URL = "",
  DRIVER_API_KEY = "",
  DRIVER_GROUP_ID = "",
  MCP_CONFORMANCE_SCENARIO: scenario = "",
  MCP_CONFORMANCE_CONTEXT: context,
} = process.env;
const server = new URL(process.argv[2] ?? "");

/** More authorizations than any scenario needs; after that the driver gives up. */
const MAX_TIMES = 3;

const admin = await signIn(DRIVER_ADMIN_URL);
const name = `${scenario} ${server.port}`;
const address = { base_url: server.origin, mcp_endpoint_path: server.pathname === "/" ? "" : server.pathname };
const { id } = await admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name, auth_type: "oauth", ...address });
await grant(admin, name, id, [DRIVER_GROUP_ID]);
const entered = context === undefined ? {} : JSON.parse(context);
if (entered.issuer !== undefined) {
  const { status, body } = await admin.request("PUT", `/v1/admin/mcp-servers/${id}/oauth-client`, {
    issuer: entered.issuer,
    client_id: entered.client_id,
    client_secret: entered.client_secret,
  });
  if (status !== 200) throw new Error(`the client was not entered: ${JSON.stringify(body)}`);
}

let session: string | null = null;
let opened = 0;

/** Sends one request as a client of the handshake dialect, and opens any connect URL that it is answered with. */
async function ask(method: string, params: object): Promise<any> {
  for (;;) {
    const response = await fetch(`${DRIVER_RUNTIME_URL}/v1/proxy/mcp/${id}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "x-api-key": DRIVER_API_KEY,
        ...(session === null ? {} : { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...(method.startsWith("notifications/") ? {} : { id: 1 }), method, params }),
    });
    session ??= response.headers.get("mcp-session-id");
    const text = await response.text();
    const data = response.headers.get("content-type")?.startsWith("text/event-stream")
      ? text
          .split("\n")
          .findLast((line) => line.startsWith("data:"))
          ?.slice(5)
      : text;
    const body = data === undefined || data === "" ? null : JSON.parse(data);
    const connect = body?.error?.data?.connect_url;
    console.error(method, response.status, text.slice(0, 500));
    if (connect === undefined || opened++ >= MAX_TIMES) return body;
    const { page, status } = await new ScriptedBrowser("ada", DRIVER_API_KEY).walk(connect);
    console.error("opened", status, page.replaceAll(/<[^>]*>/g, " ").slice(-400));
    // The server's dialect was unknown before the first connection, so initialize again.
    if (method !== "initialize" && session === null) await begin();
  }
}

async function begin(): Promise<void> {
  await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "driver", version: "1" } });
  await ask("notifications/initialized", {});
}

await begin();
const listed = await ask("tools/list", {});
for (const tool of listed?.result?.tools ?? []) await ask("tools/call", { name: tool.name, arguments: {} });
process.exit(0);
