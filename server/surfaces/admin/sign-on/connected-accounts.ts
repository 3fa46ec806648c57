import { connectedAccount, connectedAccountQuery } from "@gatehouse/contracts/connected-accounts";
import { listOf, pageQuery } from "@gatehouse/contracts/conventions";
import { accountsAtServer, accountsOfUser, endConnectedAccount } from "../../../directory/tools/connected-accounts.ts";
import { type AdminOperation, operation } from "../operation.ts";
import { idOf, listed } from "../resource.ts";

const OF_SERVER = { tag: "Tool servers", reach: "one", subject: "mcp_servers", textParams: ["id"] } as const;
const PATH = "/v1/admin/mcp-servers/{id}/connected-accounts";
const answer = { status: 200, about: "One page of them", schema: listOf("connected_accounts", connectedAccount) };

export const connectedAccountOperations: readonly AdminOperation[] = [
  operation({
    ...OF_SERVER,
    access: "tools:read",
    method: "GET",
    path: PATH,
    summary: "List the accounts that people and keys have connected to a tool server",
    description: "Most recently connected first. Tokens are never shown.",
    query: connectedAccountQuery,
    answer,
    run: (call) =>
      listed("connected_accounts", call, (page) =>
        accountsAtServer(call.services.directory, call.tenantId, idOf(call), call.query.end_user_id, page),
      ),
  }),
  operation({
    ...OF_SERVER,
    access: "tools:write",
    method: "DELETE",
    path: `${PATH}/{account_id}`,
    summary: "End an account that somebody has connected",
    description:
      "No more calls use it, and clients that were given tokens for it must connect again. Its issuer is told if it supports revocation.",
    answer: { status: 204, about: "It is ended" },
    async run(call) {
      const serverId = idOf(call);
      const { tokens } = await call.write((write) => endConnectedAccount(write, call.tenantId, serverId, call.params["account_id"] ?? ""));
      if (tokens !== null) await call.services.giveUpTokens({ tenantId: call.tenantId, id: serverId }, tokens);
    },
  }),
  operation({
    tag: "End users",
    reach: "one",
    subject: "end_users",
    access: "users:read",
    method: "GET",
    path: "/v1/admin/end-users/{id}/connected-accounts",
    summary: "List the accounts that a person has connected to tool servers",
    description: "Each is ended at its tool server.",
    query: pageQuery,
    answer,
    run: (call) => listed("connected_accounts", call, (page) => accountsOfUser(call.services.directory, call.tenantId, idOf(call), page)),
  }),
];
