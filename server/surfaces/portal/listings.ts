import {
  identityConnectors,
  identityMappings,
  portalCollections,
  portalServer,
  portalServerList,
} from "@gatehouse/contracts/portal-answers";
import { groupFilterQuery, inheritedQuery, passagesQuery } from "@gatehouse/contracts/portal";
import { portalKnowledgeBase, portalPassages } from "@gatehouse/contracts/knowledge-bases";
import { kbIdentity } from "@gatehouse/contracts/kb-identities";
import { ownIdentities, unlinkOwnIdentity } from "../../directory/knowledge/own-identities.ts";
import { passagesOfReader, portalKnowledgeBases } from "../../directory/knowledge/knowledge-bases.ts";
import { portalServers, type PortalServer } from "../../controls/access/portal-servers.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { portalOperation, type PortalRoute } from "./portal-operation.ts";
import { scopeOf, lookupScopesOf } from "./portal-scopes.ts";
import { portalServersFor } from "./servers-for.ts";

const CONNECTORS = [
  { connector_type: "directory", name: "Directory" },
  { connector_type: "s3", name: "S3 bucket" },
  { connector_type: "git", name: "Git repository" },
] as const;

const SERVERS = "/v1/portal/servers";

const listed = (servers: readonly PortalServer[] | Refusal, enabledOnly: boolean | undefined) => {
  if (isRefusal(servers)) return servers;
  const shown = enabledOnly === true ? servers.filter(({ enabled }) => enabled) : servers;
  return { servers: shown, total: shown.length };
};

/** What a user may choose besides models. */
export const listingRoutes: readonly PortalRoute[] = [
  portalOperation({
    method: "GET",
    path: SERVERS,
    name: "servers",
    summary: "List the tool servers that the user may use",
    answer: { status: 200, schema: portalServerList },
    query: groupFilterQuery,
    run: async (request) => listed(await portalServersFor(request, request.query.group_id, true), request.query.enabled_only),
  }),
  portalOperation({
    method: "GET",
    path: `${SERVERS}/by-group/:group_id`,
    name: "servers_of_group",
    summary: "List the tool servers of a group",
    answer: { status: 200, schema: portalServerList },
    query: inheritedQuery,
    run: async (request) =>
      listed(await portalServersFor(request, request.params.group_id, request.query.include_inherited ?? true), false),
  }),
  portalOperation({
    method: "GET",
    path: `${SERVERS}/:config_id`,
    name: "server",
    summary: "Retrieve a tool server",
    answer: { status: 200, schema: portalServer },
    async run(request) {
      const servers = (await lookupScopesOf(request)).flatMap((scope) => portalServers(scope, true));
      return servers.find(({ id }) => id === request.params.config_id) ?? refuse("not_found", "There is no such server.");
    },
  }),
  portalOperation({
    method: "GET",
    path: "/v1/portal/knowledgebases",
    name: "knowledgebases",
    summary: "List the knowledge bases that the user may use",
    answer: { status: 200, schema: portalCollections },
    query: groupFilterQuery,
    async run(request) {
      const scope = await scopeOf(request, request.query.group_id);
      if (isRefusal(scope)) return scope;
      const granted = await portalKnowledgeBases(request.services.directory, request.who.userId, scope === null ? [] : [scope]);
      const collections = request.query.enabled_only === true ? granted.filter(({ enabled }) => enabled) : granted;
      return { collections, total: collections.length };
    },
  }),
  portalOperation({
    method: "GET",
    path: "/v1/portal/knowledgebases/:collection_id",
    name: "knowledgebase",
    summary: "Retrieve a knowledge base",
    answer: { status: 200, schema: portalKnowledgeBase },
    async run(request) {
      const granted = await portalKnowledgeBases(request.services.directory, request.who.userId, await lookupScopesOf(request));
      return granted.find(({ id }) => id === request.params.collection_id) ?? refuse("not_found", "There is no such collection.");
    },
  }),
  portalOperation({
    method: "GET",
    path: "/v1/portal/knowledge-passages",
    name: "knowledge_passages",
    summary: "Passages that answers were given",
    answer: { status: 200, schema: portalPassages },
    query: passagesQuery,
    async run(request) {
      const keys = request.query.ids.split(",").map((key) => {
        const [document_id = "", ordinal] = key.split(":");
        return { document_id, ordinal: Number(ordinal) };
      });
      const scopes = await lookupScopesOf(request);
      return { passages: await passagesOfReader(request.services.directory, request.who.userId, scopes, keys) };
    },
  }),
  portalOperation({
    method: "GET",
    path: "/v1/portal/kb-identities/connectors",
    name: "kb_connectors",
    summary: "List connectors whose identities may be linked",
    answer: { status: 200, schema: identityConnectors },
    run: async () => ({ connectors: CONNECTORS, total: CONNECTORS.length }),
  }),
  portalOperation({
    method: "GET",
    path: "/v1/portal/kb-identities",
    name: "kb_identities",
    summary: "List the user's linked identities",
    answer: { status: 200, schema: identityMappings },
    async run({ services, who }) {
      const mappings = await ownIdentities(services.directory, who);
      return { mappings, total: mappings.length };
    },
  }),
  portalOperation({
    method: "POST",
    path: "/v1/portal/kb-identities",
    name: "kb_identity_link",
    summary: "Link an identity",
    answer: { status: 200, schema: identityMappings },
    run: async () => refuse("not_implemented", "Identities of knowledge bases are linked by an administrator."),
  }),
  portalOperation({
    method: "DELETE",
    path: "/v1/portal/kb-identities/:mapping_id",
    name: "kb_identity_unlink",
    summary: "Unlink an identity",
    answer: { status: 200, schema: kbIdentity },
    run: ({ services, who, params, origin }) => unlinkOwnIdentity(services.directory, who, params.mapping_id ?? "", origin),
  }),
];
