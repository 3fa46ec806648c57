import { inputClass } from "@gatehouse/web-kit/field.tsx";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { adminApi } from "./admin-client.ts";

/** For system admins, who see every tenant: the one that all pages are of. */
export function TenantChoice(): ReactNode {
  const { tenant } = useSearch({ strict: false }) as { tenant?: string };
  const go = useNavigate();
  const queries = useQueryClient();
  const tenants = useQuery({ queryKey: ["tenants"], queryFn: () => adminApi.call("GET /v1/admin/tenants", { query: { page_size: 200 } }) });
  useEffect(() => {
    // What was read of one tenant is nothing of the other's.
    void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== "tenants" && queryKey[0] !== "openapi" });
  }, [queries, tenant]);
  if (!tenants.isSuccess || tenants.data.tenants.length < 2) return null;
  return (
    <select
      aria-label="Tenant"
      className={`${inputClass} !w-auto max-w-48 min-w-0 !py-1 text-sm`}
      value={tenant ?? ""}
      onChange={({ target }) =>
        void go({ to: ".", search: (target.value === "" ? { tenant: undefined } : { tenant: target.value }) as never })
      }
    >
      <option value="">Usual tenant</option>
      {tenants.data.tenants.map(({ id, display_name: name }) => (
        <option key={id} value={id}>
          {name ?? id}
        </option>
      ))}
    </select>
  );
}
