import { Button } from "@gatehouse/web-kit/button.tsx";
import { type Column, DataTable } from "@gatehouse/web-kit/data-table.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useMemo } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";
import { useAllowed } from "../records/allowed.tsx";

type Mapping = AdminApiSchemas["UsageImportMapping"];

/** Vendor names that match nothing in the gateway; those that belong to someone else can be ignored. */
export function UnmatchedNames({ id }: { readonly id: string }): ReactNode {
  const queries = useQueryClient();
  const found = useQuery({
    queryKey: ["usage-import", id, "unmatched"],
    queryFn: () =>
      adminApi.call("GET /v1/admin/usage-import/providers/{id}/mappings", { path: { id }, query: { state: "unmatched", page_size: 200 } }),
  });
  const { mutate, error } = useMutation({
    mutationFn: ({ kind, vendor_id }: Mapping) =>
      adminApi.call("PATCH /v1/admin/usage-import/providers/{id}/mappings", {
        path: { id },
        body: { kind, vendor_id, target: null, ignored: true },
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["usage-import", id] }),
  });
  const mayIgnore = useAllowed()("PATCH /v1/admin/usage-import/providers/{id}/mappings");
  const columns = useMemo<Column<Mapping>[]>(
    () => [
      { id: "kind", header: "Kind", width: "minmax(5rem, 1fr)", cell: ({ kind }) => kind },
      { id: "name", header: "The vendor's name", width: "minmax(10rem, 2fr)", cell: ({ label, vendor_id: name }) => label ?? name },
      { id: "project", header: "Project", width: "minmax(7rem, 1fr)", cell: ({ project }) => project ?? "" },
      ...(mayIgnore
        ? [
            {
              id: "ignore",
              header: "Set aside",
              width: "minmax(8rem, 1fr)",
              cell: (mapping: Mapping) => <Button onClick={() => mutate(mapping)}>Set aside</Button>,
            },
          ]
        : []),
    ],
    [mayIgnore, mutate],
  );
  if (found.isPending) return <Skeleton label="Loading" />;
  if (found.isError) return <ErrorState error={found.error} title="The names could not be read" requestLabel="Request" />;
  if (found.data.mappings.length === 0) return null;
  return (
    <Panel title="Unmatched names">
      <FormError error={error} />
      <DataTable
        label="Unmatched names"
        columns={columns}
        rows={found.data.mappings}
        rowKey={({ kind, vendor_id: name }) => `${kind} ${name}`}
        total={found.data.total}
      />
    </Panel>
  );
}
