import type { Admin } from "../targets/admin.ts";
import type { CallShape, ToolServerAnswer } from "./case.ts";

/** A call of one tool in either dialect of the protocol: a request of about 0.6 KB, an answer of about 1 KB. */

const NAME = "find_orders";
const ARGUMENTS = {
  query: "SELECT number, state, shipped_at FROM orders WHERE customer = 48209 ORDER BY shipped_at DESC LIMIT 5",
  reason: "The customer asks where the second of two desk lamps is, which was not in the parcel that came on Tuesday.",
  limit: 5,
};
const ROWS = ["shipped", "delivered", "returned", "delivered", "delivered"].map((state, index) => ({
  number: `48-${20_913 - index}`,
  state,
  lines: index + 1,
  note: "Handed over to the carrier; the last scan is from this morning, at the depot in the customer's city.",
}));
const RESULT = { content: [{ type: "text", text: JSON.stringify(ROWS) }], isError: false };
const TOOLS = [
  {
    name: NAME,
    description: "Finds orders with a query of the order database.",
    inputSchema: {
      type: "object",
      properties: { query: { type: "string" }, reason: { type: "string" }, limit: { type: "integer" } },
      required: ["query"],
    },
  },
  {
    name: "cancel_order",
    description: "Cancels an order.",
    inputSchema: { type: "object", properties: { number: { type: "string" } }, required: ["number"] },
  },
];
const INFO = { name: "bench-tools", version: "1.0.0" };
const STATELESS_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
};

const both = (results: Record<string, object>) =>
  Object.fromEntries(Object.entries(results).map(([method, result]) => [method, JSON.stringify(result)]));

const statelessServer: ToolServerAnswer = {
  kind: "tool_server",
  dialect: "stateless",
  results: both({
    "server/discover": {
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {} },
      ttlMs: 0,
      cacheScope: "private",
      _meta: { "io.modelcontextprotocol/serverInfo": INFO },
    },
    "tools/list": { resultType: "complete", tools: TOOLS, ttlMs: 0, cacheScope: "private" },
    "tools/call": { resultType: "complete", ...RESULT },
  }),
};

const handshakeServer: ToolServerAnswer = {
  kind: "tool_server",
  dialect: "handshake",
  results: both({
    initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: INFO },
    "tools/list": { tools: TOOLS },
    "tools/call": RESULT,
  }),
};

const message = (meta: object) => ({ jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: NAME, arguments: ARGUMENTS, ...meta } });
const accept = "application/json, text/event-stream";
const shape = {
  path: "/mcp",
  upstreamFormat: "mcp",
  check: { kind: "json", contains: ["48-20913", '"isError":false', '"id":7'], endsWith: "}" },
  atGatehouse: { path: "/v1/proxy/mcp/" },
} as const;

/** Stateless caller and server. */
export const statelessToolCall: CallShape = {
  ...shape,
  headers: { accept, "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": NAME },
  body: () => message({ _meta: STATELESS_META }),
  upstream: statelessServer,
};

/** Caller and server of the handshake dialect in one session, whose ID is filled in once it exists. */
export const sessionToolCall: CallShape = {
  ...shape,
  headers: { accept, "mcp-protocol-version": "2025-11-25", "mcp-session-id": "" },
  body: () => message({}),
  upstream: handshakeServer,
};

/** A stateless caller of a handshake server, which the gateway bridges. */
export const bridgedToolCall: CallShape = { ...statelessToolCall, upstream: handshakeServer };

/** Every kind of governance for a tool call, none of which blocks this one. */
export async function governTools(admin: Admin, groupId: string, serverId: string | null): Promise<void> {
  const tenant = { tenant_id: "default" };
  const limits = {
    frequency: { max_calls_per_minute: 10_000_000, max_calls_per_day: 100_000_000 },
    execution: { timeout_seconds: 20 },
    data: { max_payload_size_mb: 5, max_rows_per_query: 1_000, max_items_per_response: 100 },
  };
  await admin.send("PATCH", `/v1/admin/resource-groups/${groupId}/mcp-global-limits`, { mcp_global_limits: limits });
  await admin.send("PATCH", `/v1/admin/resource-groups/${groupId}/mcp-servers/${serverId}/limits`, {
    limits: { frequency: { max_calls_per_day: 100_000_000 } },
  });
  await admin.post("/v1/admin/server-configs", {
    ...tenant,
    name: `rules of ${groupId}`,
    mcp_server_id: serverId,
    group_ids: [groupId],
    enabled: true,
    enabled_tools: [NAME, "cancel_order"],
    approval_required_tools: ["cancel_order"],
  });
  await admin.post("/v1/admin/guardrails/configs", {
    ...tenant,
    name: `tools of ${groupId}`,
    group_ids: [groupId],
    surfaces: { mcp_input: true, mcp_output: true },
    builtin: {
      pii_enabled: true,
      secrets_enabled: true,
      prompt_injection_enabled: true,
      banned_words: ["project titan", "desk of the chairman"],
      banned_patterns: ["(?i)internal use only"],
    },
  });
  await admin.post("/v1/admin/argument-policies", {
    ...tenant,
    name: `reading of ${groupId}`,
    target: NAME,
    argument_key: "query",
    analyzer: "sql",
    rules: [{ deny_if: "writes", message: "Reading only." }],
    group_ids: [groupId],
  });
}
