/**
 * Run by the conformance suite as if it were the client under test. Registers the suite's server with a gateway and uses it through the
 * gateway with a client of the handshake dialect, so the client that the suite sees is the gateway's own.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CreateMessageRequestSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { grant } from "../e2e/tools/mcp-harness.ts";
import { signIn } from "../support/worlds/admin.ts";

const {
  DRIVER_ADMIN_URL = "",
  DRIVER_RUNTIME_URL = "",
  DRIVER_API_KEY = "",
  DRIVER_GROUP_ID = "",
  MCP_CONFORMANCE_SCENARIO: scenario = "",
  MCP_CONFORMANCE_CONTEXT: context,
} = process.env;
const server = new URL(process.argv[2] ?? "");

const admin = await signIn(DRIVER_ADMIN_URL);
const { id } = await admin.post("/v1/admin/mcp-servers", {
  tenant_id: "default",
  name: `${scenario} ${server.port}`,
  base_url: server.origin,
  mcp_endpoint_path: server.pathname === "/" ? "" : server.pathname,
});
await grant(admin, `${scenario} ${server.port}`, id, [DRIVER_GROUP_ID]);

const client = new Client(
  { name: "driver", version: "1" },
  { capabilities: { elicitation: { form: { applyDefaults: true } }, sampling: {} } },
);
// An empty answer is filled with the form's default values.
const content = scenario === "elicitation-sep1034-client-defaults" ? {} : { confirmed: true, name: "Ada", ok: true };
client.setRequestHandler(ElicitRequestSchema, async () => ({ action: "accept" as const, content: { ...content } }));
client.setRequestHandler(CreateMessageRequestSchema, async () => ({
  role: "assistant" as const,
  model: "a-model",
  content: { type: "text" as const, text: "Paris" },
}));
await client.connect(
  new StreamableHTTPClientTransport(new URL(`${DRIVER_RUNTIME_URL}/v1/proxy/mcp/${id}`), {
    requestInit: { headers: { "x-api-key": DRIVER_API_KEY } },
  }) as never,
);

const SAMPLES: Record<string, unknown> = { number: 5, integer: 5, string: "text", boolean: true, object: {}, array: [] };

async function attempted(what: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    console.error(what, error instanceof Error ? error.message : error);
  }
}

const { tools } = await client.listTools();
const calls: { name: string; arguments: Record<string, unknown> }[] =
  context === undefined
    ? tools.map(({ name, inputSchema }) => ({
        name,
        arguments: Object.fromEntries(
          Object.entries(inputSchema.properties ?? {}).map(([key, schema]) => [key, SAMPLES[String((schema as { type?: unknown }).type)]]),
        ),
      }))
    : JSON.parse(context).toolCalls;
if (scenario !== "json-schema-ref-no-deref") await Promise.all(calls.map((call) => attempted(call.name, () => client.callTool(call))));
if (scenario === "http-standard-headers") {
  await attempted("resources", async () => client.readResource({ uri: (await client.listResources()).resources[0]?.uri ?? "" }));
  await attempted("prompts", async () => client.getPrompt({ name: (await client.listPrompts()).prompts[0]?.name ?? "" }));
}
await client.close();
process.exit(0);
