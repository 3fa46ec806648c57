import createClient from "openapi-fetch";
import type { components, paths } from "./control-types.d.ts";

/** The same for the control plane. */

type Row = components["schemas"]["AuditRow"];

function must<T>({ data, error, response }: { data?: T; error?: unknown; response: Response }): T {
  if (data === undefined) throw new Error(`${response.url}: ${response.status} ${JSON.stringify(error)}`);
  return data;
}

interface Given {
  readonly adminUrl: string;
  readonly token: string;
  readonly groupId: string;
}

export async function useControl({ adminUrl, token, groupId }: Given): Promise<Readonly<Record<string, string | number | null>>> {
  const admin = createClient<paths>({ baseUrl: adminUrl, headers: { authorization: `Bearer ${token}` } });
  const made = must(
    await admin.POST("/v1/admin/resource-groups", {
      body: { tenant_id: "default", name: "strict", group_type: "team", parent_group_id: groupId },
    }),
  );
  const path = { path: { id: made.id } };
  const limits = must(
    await admin.PATCH("/v1/admin/resource-groups/{id}/llm-global-limits", {
      params: path,
      body: { llm_global_limits: { requests: { daily_limit: 100 } } },
    }),
  );
  const read = must(await admin.GET("/v1/admin/resource-groups/{id}", { params: path }));
  const page = must(await admin.POST("/v1/admin/proxy-logs/query", { body: { tenant_id: "default", filters: { proxy_type: "llm" } } }));
  const failed = page.rows.filter(({ success }: Row) => success === false);
  const duplicate = await admin.POST("/v1/admin/resource-groups", { body: { tenant_id: "default", name: "strict", group_type: "team" } });
  return {
    group: read.name,
    limits: Object.keys(limits).length,
    calls: page.rows.length,
    failed: failed.length,
    code: duplicate.error?.code ?? null,
    existing: duplicate.error?.existing_id === made.id ? "the first" : null,
  };
}
