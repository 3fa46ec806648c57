import {
  effectiveServerConfigs as effectiveSchema,
  serverConfig,
  serverConfigCreate,
  serverConfigQuery,
  serverConfigUpdate,
} from "@gatehouse/contracts/server-configs";
import { readEffectiveServerConfigs, serverConfigs } from "../../../directory/tools/server-configs.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, resource } from "../resource.ts";

export const serverConfigOperations: readonly AdminOperation[] = [
  ...resource({
    path: "/v1/admin/server-configs",
    key: "server_configs",
    noun: "server configuration",
    tag: "Server configurations",
    area: "tools",
    table: "server_configs",
    records: serverConfigs,
    query: serverConfigQuery,
    create: serverConfigCreate,
    update: serverConfigUpdate,
    read: serverConfig,
    notes: {
      create: "Grants resource groups the use of a tool server, and says which of its tools may be called and which need approval.",
    },
  }),
  operation({
    tag: "Server configurations",
    access: "groups:read",
    reach: "one",
    subject: "resource_groups",
    method: "GET",
    path: "/v1/admin/resource-groups/{id}/effective-server-configs",
    summary: "List the tool servers a group may use",
    description: "By configurations bound to the group itself, or inherited.",
    answer: { status: 200, about: "The configurations, and what they come to together", schema: effectiveSchema },
    run: (call) => readEffectiveServerConfigs(call.services.directory, call.tenantId, idOf(call)),
  }),
];
