import { type Column, DataTable } from "@gatehouse/web-kit/data-table.tsx";
import { formatNumber, formatRelative, formatUsd } from "@gatehouse/web-kit/formats.ts";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";

type Run = AdminApiSchemas["UsageImportRun"];

const TONES = { queued: "neutral", running: "neutral", partial: "warn", succeeded: "good", failed: "bad" } as const;
const RENEWAL_INTERVAL_MS = 3_000;

const columns: Column<Run>[] = [
  { id: "status", header: "Status", width: "minmax(7rem, 1fr)", cell: ({ status }) => <Badge tone={TONES[status]}>{status}</Badge> },
  { id: "started", header: "Started", width: "minmax(7rem, 1fr)", cell: ({ started_at: at }) => formatRelative(at) },
  { id: "days", header: "Days", width: "minmax(10rem, 1fr)", cell: ({ from, to }) => `${from} to ${to}` },
  { id: "rows", header: "New figures", width: "minmax(6rem, 1fr)", align: "end", cell: ({ rows_imported: rows }) => formatNumber(rows) },
  {
    id: "unmatched",
    header: "Unmatched",
    width: "minmax(6rem, 1fr)",
    align: "end",
    cell: ({ unmatched }) => (unmatched === null ? "" : formatNumber(unmatched)),
  },
  {
    id: "cost",
    header: "Vendor's cost",
    width: "minmax(6rem, 1fr)",
    align: "end",
    cell: ({ cost_usd: cost }) => (cost === null ? "" : formatUsd(cost)),
  },
  {
    id: "difference",
    header: "Difference",
    width: "minmax(6rem, 1fr)",
    align: "end",
    cell: ({ difference_usd: difference }) => (difference === null ? "" : formatUsd(difference)),
  },
  { id: "error", header: "Error", width: "minmax(9rem, 2fr)", cell: ({ error }) => error ?? "" },
];

/** The latest runs of an import. */
export function ImportRuns({ id }: { readonly id: string }): ReactNode {
  const found = useQuery({
    queryKey: ["usage-import", id, "runs"],
    queryFn: () => adminApi.call("GET /v1/admin/usage-import/providers/{id}/runs", { path: { id }, query: { page_size: 50 } }),
    refetchInterval: ({ state }) => (state.data?.runs.some(({ finished_at: end }) => end === null) === true ? RENEWAL_INTERVAL_MS : false),
  });
  if (found.isPending) return <Skeleton label="Loading" />;
  if (found.isError) return <ErrorState error={found.error} title="The runs could not be read" requestLabel="Request" />;
  if (found.data.runs.length === 0) return null;
  return (
    <Panel title="Runs">
      <DataTable label="Runs" columns={columns} rows={found.data.runs} rowKey={(run) => run.id} total={found.data.total} />
    </Panel>
  );
}
