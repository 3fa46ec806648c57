import {
  semanticCacheBinding,
  semanticCacheConfig,
  semanticCacheConfigCreate,
  semanticCacheConfigQuery,
  semanticCacheConfigUpdate,
  semanticCacheGroups,
  semanticCacheGroupsQuery,
  semanticCacheInvalidated,
  semanticCacheInvalidation,
} from "@gatehouse/contracts/semantic-cache";
import { bindSemanticCache, invalidateSemanticCache, semanticCacheConfigs } from "../../../directory/semantic-cache/configs.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, resource } from "../resource.ts";

const PATH = "/v1/admin/semantic-cache/configs";
const TAG = "Semantic cache";
const writing = { tag: TAG, access: "policies:write", reach: "one", subject: "semantic_cache_configs" } as const;

export const semanticCacheOperations: readonly AdminOperation[] = [
  ...resource({
    path: PATH,
    key: "configs",
    noun: "semantic cache configuration",
    tag: TAG,
    area: "policies",
    table: "semantic_cache_configs",
    records: semanticCacheConfigs,
    query: semanticCacheConfigQuery,
    create: semanticCacheConfigCreate,
    update: semanticCacheConfigUpdate,
    read: semanticCacheConfig,
    notes: {
      create:
        "Holds for the groups it is bound to and those below them; where several do, the nearest counts. Answers are given " +
        "again only to callers under the same policies, for the same model, and for requests that ask the same.",
      update: "What the body leaves out stays as it is; exact_match and semantic_match are each replaced as a whole.",
      remove: "Its stored answers go with it.",
    },
  }),
  operation({
    ...writing,
    method: "POST",
    path: `${PATH}/{id}/groups`,
    summary: "Bind a semantic cache configuration to groups",
    description:
      "Adds the groups; when all are bound already, 409 already_bound. With replace=true they take the place of those bound before.",
    query: semanticCacheGroupsQuery,
    body: semanticCacheGroups,
    answer: { status: 200, about: "What was bound", schema: semanticCacheBinding },
    run: (call) =>
      call.write((write) => bindSemanticCache(write, call.tenantId, idOf(call), call.body.group_ids, call.query.replace === "true")),
  }),
  operation({
    ...writing,
    method: "POST",
    path: `${PATH}/{id}/invalidate`,
    summary: "Drop stored answers",
    description: "All of the configuration's, or those stored before a time, or of one model. No process returns them again.",
    body: semanticCacheInvalidation,
    answer: { status: 200, about: "How many were dropped", schema: semanticCacheInvalidated },
    run: (call) => call.write((write) => invalidateSemanticCache(write, call.tenantId, idOf(call), call.body)),
  }),
];
