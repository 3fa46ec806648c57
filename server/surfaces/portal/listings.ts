import { groupFilterQuery, inheritedQuery } from "@gatehouse/contracts/portal";
import { refuse } from "../../kernel/errors.ts";
import { portalOperation, type PortalRequest, type PortalRoute } from "./portal-operation.ts";

/** Refuses a group that the user is not in. */
function foreign({ user }: Pick<PortalRequest<unknown, unknown>, "user">, groupId: string | undefined) {
  return groupId === undefined || user.group_ids.includes(groupId) ? null : refuse("forbidden", "You are not in this resource group.");
}

/** What a user may pick beside models. This gateway has no such records yet, so the lists are empty. */
export const listingRoutes: readonly PortalRoute[] = [
  portalOperation({ method: "GET", path: "/v1/portal/servers", name: "servers", query: groupFilterQuery, run: async (request) => foreign(request, request.query.group_id) ?? { servers: [], total: 0 } }),
  portalOperation({
    method: "GET",
    path: "/v1/portal/servers/by-group/:group_id",
    name: "servers_of_group",
    query: inheritedQuery,
    run: async (request) => foreign(request, request.params.group_id) ?? { servers: [], total: 0 },
  }),
  portalOperation({ method: "GET", path: "/v1/portal/servers/:config_id", name: "server", run: async () => refuse("not_found", "There is no such server.") }),
  portalOperation({ method: "GET", path: "/v1/portal/skills", name: "skills", run: async () => ({ skills: [], total: 0 }) }),
  portalOperation({ method: "GET", path: "/v1/portal/skills/:skill_id/export", name: "skill_export", run: async () => refuse("not_found", "There is no such skill.") }),
  portalOperation({ method: "GET", path: "/v1/portal/knowledgebases", name: "knowledgebases", query: groupFilterQuery, run: async (request) => foreign(request, request.query.group_id) ?? { collections: [], total: 0 } }),
  portalOperation({ method: "GET", path: "/v1/portal/knowledgebases/:collection_id", name: "knowledgebase", run: async () => refuse("not_found", "There is no such collection.") }),
  portalOperation({ method: "GET", path: "/v1/portal/kb-identities/connectors", name: "kb_connectors", run: async () => ({ connectors: [], total: 0 }) }),
  portalOperation({ method: "GET", path: "/v1/portal/kb-identities", name: "kb_identities", run: async () => ({ mappings: [], total: 0 }) }),
  portalOperation({ method: "POST", path: "/v1/portal/kb-identities", name: "kb_identity_link", run: async () => refuse("not_implemented", "Identities of knowledge bases are linked by an administrator.") }),
  portalOperation({ method: "DELETE", path: "/v1/portal/kb-identities/:mapping_id", name: "kb_identity_unlink", run: async () => refuse("not_found", "There is no such mapping.") }),
];
