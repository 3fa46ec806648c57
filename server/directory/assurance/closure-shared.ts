import type { ContractClauses } from "@gatehouse/contracts/ai-contracts";
import { knowledgeBases } from "../knowledge/knowledge-bases.ts";
import { routingGroups } from "../models/routing-groups.ts";
import { semanticCacheConfigs } from "../semantic-cache/configs.ts";
import { virtualServers } from "../tools/virtual-servers.ts";
import { byId, configurationDigest, everything, type ClosureReach } from "./closure-parts.ts";
import { policiesIn } from "./closure-policies.ts";

type Shared = Pick<ContractClauses, "knowledge_bases" | "routing_groups" | "virtual_servers" | "semantic_caches">;

/** What systems share: knowledge, the virtual models and servers in front of granted ones, and cached answers. */
export async function sharedClauses(reach: ClosureReach): Promise<Shared> {
  const { directory, tenantId } = reach;
  return {
    knowledge_bases: await knowledgeIn(reach),
    routing_groups: await routingIn(reach),
    virtual_servers: await virtualIn(reach),
    semantic_caches: await policiesIn(reach, (page) => semanticCacheConfigs.list(directory, tenantId, {}, page)),
  };
}

/** Granted to the group itself, or inherited by it. */
const isGranted = ({ chain }: ClosureReach, groupIds: readonly string[]) => chain.some(({ id, grants }) => grants && groupIds.includes(id));

/** By configuration only, since documents come and go. */
async function knowledgeIn(reach: ClosureReach): Promise<Shared["knowledge_bases"]> {
  const { directory, tenantId } = reach;
  const all = await everything((page) => knowledgeBases.list(directory, tenantId, {}, page));
  return byId(
    all
      .filter((base) => base.enabled && isGranted(reach, base.group_ids))
      .map((base) => [base.id, { name: base.name, digest: configurationDigest(base) }]),
  );
}

/** Routing groups with a granted member, listing only granted members. Which models name a group is in the models clause. */
async function routingIn({ directory, tenantId, chain }: ClosureReach): Promise<Shared["routing_groups"]> {
  const granted = new Set(chain.flatMap((row) => row.model_ids));
  const all = await everything((page) => routingGroups.list(directory, tenantId, {}, page));
  return byId(
    all.flatMap(({ members: named, modes: _modes, ...group }) => {
      const members = Object.fromEntries(
        named.filter(({ model_id: id }) => granted.has(id)).map(({ model_id: id, routing_weight: weight }) => [id, weight]),
      );
      if (!group.enabled || Object.keys(members).length === 0) return [];
      return [[group.id, { name: group.name, digest: configurationDigest(group), members }] as const];
    }),
  );
}

async function virtualIn(reach: ClosureReach): Promise<Shared["virtual_servers"]> {
  const { directory, tenantId } = reach;
  const all = await everything((page) => virtualServers.list(directory, tenantId, {}, page));
  return byId(
    all
      .filter((server) => server.enabled && isGranted(reach, server.group_ids))
      .map((server) => [
        server.id,
        {
          name: server.name,
          digest: configurationDigest(server),
          members: Object.fromEntries(server.members.map(({ mcp_server_id: id, slug }) => [id, slug])),
        },
      ]),
  );
}
