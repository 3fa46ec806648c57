import { groupFilterQuery, inheritedQuery } from "@gatehouse/contracts/portal";
import { portalServers, type PortalServer } from "../../controls/access/portal-servers.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { portalOperation, type PortalRequest, type PortalRoute } from "./portal-operation.ts";
import { fromOtherTenant, scopeOf, lookupScopesOf } from "./portal-scopes.ts";

const SERVERS = "/v1/portal/servers";

async function serversFor(
  request: PortalRequest<unknown, unknown>,
  groupId: string | undefined,
  inherited: boolean,
): Promise<readonly PortalServer[] | Refusal> {
  const scope = await scopeOf(request, groupId);
  if (scope === null) return [];
  return isRefusal(scope) ? scope : portalServers(scope, inherited);
}

const listed = (servers: readonly PortalServer[] | Refusal, enabledOnly: boolean | undefined) => {
  if (isRefusal(servers)) return servers;
  const shown = enabledOnly === true ? servers.filter(({ enabled }) => enabled) : servers;
  return { servers: shown, total: shown.length };
};

/** What a user may pick beside models. There are no skills and no knowledge bases yet, so their lists are empty. */
export const listingRoutes: readonly PortalRoute[] = [
  portalOperation({
    method: "GET",
    path: SERVERS,
    name: "servers",
    query: groupFilterQuery,
    run: async (request) => listed(await serversFor(request, request.query.group_id, true), request.query.enabled_only),
  }),
  portalOperation({
    method: "GET",
    path: `${SERVERS}/by-group/:group_id`,
    name: "servers_of_group",
    query: inheritedQuery,
    run: async (request) => listed(await serversFor(request, request.params.group_id, request.query.include_inherited ?? true), false),
  }),
  portalOperation({
    method: "GET",
    path: `${SERVERS}/:config_id`,
    name: "server",
    async run(request) {
      const servers = (await lookupScopesOf(request)).flatMap((scope) => portalServers(scope, true));
      return servers.find(({ id }) => id === request.params.config_id) ?? refuse("not_found", "There is no such server.");
    },
  }),
  portalOperation({ method: "GET", path: "/v1/portal/skills", name: "skills", run: async () => ({ skills: [], total: 0 }) }),
  portalOperation({
    method: "GET",
    path: "/v1/portal/skills/:skill_id/export",
    name: "skill_export",
    run: async () => refuse("not_found", "There is no such skill."),
  }),
  portalOperation({
    method: "GET",
    path: "/v1/portal/knowledgebases",
    name: "knowledgebases",
    query: groupFilterQuery,
    run: async (request) => fromOtherTenant(request, request.query.group_id) ?? { collections: [], total: 0 },
  }),
  portalOperation({
    method: "GET",
    path: "/v1/portal/knowledgebases/:collection_id",
    name: "knowledgebase",
    run: async () => refuse("not_found", "There is no such collection."),
  }),
  portalOperation({
    method: "GET",
    path: "/v1/portal/kb-identities/connectors",
    name: "kb_connectors",
    run: async () => ({ connectors: [], total: 0 }),
  }),
  portalOperation({
    method: "GET",
    path: "/v1/portal/kb-identities",
    name: "kb_identities",
    run: async () => ({ mappings: [], total: 0 }),
  }),
  portalOperation({
    method: "POST",
    path: "/v1/portal/kb-identities",
    name: "kb_identity_link",
    run: async () => refuse("not_implemented", "Identities of knowledge bases are linked by an administrator."),
  }),
  portalOperation({
    method: "DELETE",
    path: "/v1/portal/kb-identities/:mapping_id",
    name: "kb_identity_unlink",
    run: async () => refuse("not_found", "There is no such mapping."),
  }),
];
