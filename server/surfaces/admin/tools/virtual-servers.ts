import { virtualServer, virtualServerCreate, virtualServerQuery, virtualServerUpdate } from "@gatehouse/contracts/virtual-servers";
import { virtualServers } from "../../../directory/tools/virtual-servers.ts";
import type { AdminOperation } from "../operation.ts";
import { resource } from "../resource.ts";

export const virtualServerOperations: readonly AdminOperation[] = resource({
  path: "/v1/admin/virtual-servers",
  key: "virtual_servers",
  noun: "virtual server",
  tag: "Virtual servers",
  area: "tools",
  table: "virtual_servers",
  records: virtualServers,
  query: virtualServerQuery,
  create: virtualServerCreate,
  update: virtualServerUpdate,
  read: virtualServer,
  notes: {
    create:
      "Several tool servers as one, at /v1/proxy/vmcp/{id}. It widens no access: each member must be granted to the caller on its own.",
  },
}).map((one) => ({ ...one, textParams: ["id"] }));
