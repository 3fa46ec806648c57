import { createMcpHandler, McpServer as StatelessServer } from "@modelcontextprotocol/server";
import { McpServer as HandshakeServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";

const HTML = "text/html;profile=mcp-app";
const UI = { csp: { connectDomains: ["https://api.example"] }, permissions: { clipboardWrite: {} }, prefersBorder: true };
const TEXT = { content: [{ type: "text" as const, text: "done" }] };

/** The same tools on both SDKs: one for everyone, one only for apps, and one with a private interface. */
function furnish(server: { registerTool: any; registerResource: any }): void {
  const tool = (name: string, ui: object) =>
    server.registerTool(name, { description: name, _meta: { ui, vendor: { kept: true } } }, async () => TEXT);
  tool("chart", { resourceUri: "ui://charts/main", visibility: ["model", "app"] });
  tool("refresh", { resourceUri: "ui://charts/main", visibility: ["app"] });
  tool("payroll", { resourceUri: "ui://payroll/main" });
  for (const uri of ["ui://charts/main", "ui://payroll/main"])
    server.registerResource(uri, uri, { mimeType: HTML, _meta: { ui: UI } }, async () => ({
      contents: [{ uri, mimeType: HTML, text: `<h1>${uri}</h1>`, _meta: { ui: UI } }],
    }));
  // A resource whose UI metadata is only in the list.
  server.registerResource("listed", "ui://listed/main", { mimeType: HTML, _meta: { ui: UI } }, async () => ({
    contents: [{ uri: "ui://listed/main", mimeType: HTML, text: "<h1>listed</h1>" }],
  }));
  server.registerResource("plain", "ui://plain/main", { mimeType: "text/html" }, async () => ({
    contents: [{ uri: "ui://plain/main", mimeType: "text/html", text: "<h1>no app</h1>" }],
  }));
}

/** A tool server whose tools have user interfaces. */
export function startAppServer(dialect: "handshake" | "stateless"): { readonly baseUrl: string; stop(): Promise<void> } {
  const transports = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const modern = createMcpHandler(
    () => {
      const server = new StatelessServer({ name: "apps", version: "1" });
      furnish(server);
      return server;
    },
    { legacy: "reject" },
  );
  const old = async (request: Request) => {
    const known = transports.get(request.headers.get("mcp-session-id") ?? "");
    if (known !== undefined) return known.handleRequest(request);
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void transports.set(id, transport),
    });
    const server = new HandshakeServer({ name: "apps", version: "1" });
    furnish(server);
    await server.connect(transport as never);
    return transport.handleRequest(request);
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: (request) => (dialect === "stateless" ? modern.fetch(request) : old(request)),
  });
  return { baseUrl: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}
