import { mcpOAuthClient, mcpOAuthClientWrite } from "@gatehouse/contracts/mcp-oauth";
import { getConfiguredClient, putConfiguredClient, removeConfiguredClient } from "../../../directory/tools/configured-clients.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf } from "../resource.ts";

const PATH = "/v1/admin/mcp-servers/{id}/oauth-client";
const common = { tag: "Tool servers", reach: "one", subject: "mcp_servers", textParams: ["id"], path: PATH } as const;
const NOTE = "Only needed where the authorization server neither registers clients by itself nor takes client metadata documents.";

export const mcpOAuthClientOperations: readonly AdminOperation[] = [
  operation({
    ...common,
    access: "tools:read",
    method: "GET",
    summary: "Read the gateway's OAuth client at a tool server's authorization server",
    description: NOTE,
    answer: { status: 200, about: "The client", schema: mcpOAuthClient },
    run: (call) => getConfiguredClient(call.services.directory, call.tenantId, idOf(call)),
  }),
  operation({
    ...common,
    access: "tools:write",
    method: "PUT",
    summary: "Set the gateway's OAuth client at a tool server's authorization server",
    description: `${NOTE} Replaces the one that is there. Its issuer wins over those the tool server names.`,
    body: mcpOAuthClientWrite,
    answer: { status: 200, about: "The client", schema: mcpOAuthClient },
    run: (call) => call.write((write) => putConfiguredClient(write, call.tenantId, idOf(call), call.body)),
  }),
  operation({
    ...common,
    access: "tools:write",
    method: "DELETE",
    summary: "Remove the entered OAuth client of a tool server",
    answer: { status: 204, about: "It is gone" },
    run: (call) => call.write((write) => removeConfiguredClient(write, call.tenantId, idOf(call))),
  }),
];
