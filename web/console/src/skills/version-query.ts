import { queryOptions } from "@tanstack/react-query";
import { adminApi } from "../admin-client.ts";

/** One version of a skill with its files. */
export const versionQuery = (id: string, version: number) =>
  queryOptions({
    queryKey: ["skill", id, "version", version],
    queryFn: () => adminApi.call("GET /v1/admin/agent-skills/{id}/versions/{version}", { path: { id, version: String(version) } }),
  });
