// A tool server (MCP) for the guides: node docs/guides/examples/tool-server.mjs [port] [--oauth]
import { createServer } from "node:http";

const PORT = Number(process.argv[2] ?? 9102);
const ADDRESS = `http://127.0.0.1:${PORT}`;
const WITH_OAUTH = process.argv.includes("--oauth");

const numbers = { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] };
const TOOLS = [
  { name: "add", description: "Adds two numbers", inputSchema: numbers },
  { name: "divide", description: "Divides two numbers", inputSchema: numbers },
];

const METHODS = {
  initialize: () => ({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "calculator", version: "1.0.0" } }),
  ping: () => ({}),
  "tools/list": () => ({ tools: TOOLS }),
  "tools/call": ({ name, arguments: { a, b } }) => ({ content: [{ type: "text", text: String(name === "add" ? a + b : a / b) }] }),
};

/** With --oauth it is its own authorization server too, as far as discovery and registration go. */
const DOCUMENTS = {
  "/.well-known/oauth-protected-resource/mcp": {
    resource: `${ADDRESS}/mcp`,
    authorization_servers: [ADDRESS],
    scopes_supported: ["calculate"],
  },
  "/.well-known/oauth-authorization-server": {
    issuer: ADDRESS,
    authorization_endpoint: `${ADDRESS}/authorize`,
    token_endpoint: `${ADDRESS}/token`,
    registration_endpoint: `${ADDRESS}/register`,
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none"],
    authorization_response_iss_parameter_supported: true,
  },
};

function rpc(response, { id, method, params }) {
  if (id === undefined) return response.writeHead(202).end();
  const run = METHODS[method];
  const outcome = run === undefined ? { error: { code: -32601, message: "Method not found" } } : { result: run(params) };
  response.end(JSON.stringify({ jsonrpc: "2.0", id, ...outcome }));
}

createServer(async (request, response) => {
  let text = "";
  for await (const piece of request) text += piece;
  response.setHeader("content-type", "application/json");
  const document = WITH_OAUTH ? DOCUMENTS[request.url] : undefined;
  if (document !== undefined) return response.end(JSON.stringify(document));
  if (WITH_OAUTH && request.url === "/register")
    return response.writeHead(201).end(JSON.stringify({ client_id: "gateway", ...JSON.parse(text) }));
  if (request.url !== "/mcp") return response.writeHead(404).end();
  if (request.method !== "POST") return response.writeHead(405).end();
  if (WITH_OAUTH && request.headers.authorization === undefined) {
    response.setHeader("www-authenticate", `Bearer resource_metadata="${ADDRESS}/.well-known/oauth-protected-resource/mcp"`);
    return response.writeHead(401).end();
  }
  rpc(response, JSON.parse(text));
}).listen(PORT, "127.0.0.1");
