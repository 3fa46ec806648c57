import { type Column, DataTable } from "@gatehouse/web-kit/data-table.tsx";
import { SelectField } from "@gatehouse/web-kit/field.tsx";
import { formatNumber, formatUsd } from "@gatehouse/web-kit/formats.ts";
import { Facts, Panel } from "@gatehouse/web-kit/page.tsx";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Scale } from "lucide-react";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";

type Row = AdminApiSchemas["UsageReconciled"];
const BY = [
  { value: "model", label: "day and model" },
  { value: "key", label: "day and key, project or resource" },
  { value: "day", label: "day" },
] as const;

const usd = (amount: number | null) => (amount === null ? "none told" : formatUsd(amount));
const tokens = ({ input_tokens: input, output_tokens: output }: Row["vendor"]) => formatNumber(input + output);

const columns: Column<Row>[] = [
  { id: "day", header: "Day", width: "minmax(7rem, 1fr)", cell: ({ day }) => day },
  { id: "name", header: "Model or key", width: "minmax(9rem, 2fr)", cell: ({ model, key }) => model ?? key ?? "" },
  { id: "vendor", header: "Vendor's tokens", width: "minmax(7rem, 1fr)", align: "end", cell: ({ vendor }) => tokens(vendor) },
  { id: "gateway", header: "Gateway's", width: "minmax(6rem, 1fr)", align: "end", cell: ({ gateway }) => tokens(gateway) },
  { id: "billed", header: "Vendor's cost", width: "minmax(6rem, 1fr)", align: "end", cell: ({ vendor }) => usd(vendor.cost_usd) },
  { id: "metered", header: "Gateway's", width: "minmax(6rem, 1fr)", align: "end", cell: ({ gateway }) => usd(gateway.cost_usd) },
  {
    id: "difference",
    header: "Difference",
    width: "minmax(6rem, 1fr)",
    align: "end",
    cell: ({ difference }) => formatUsd(difference.cost_usd),
  },
  {
    id: "why",
    header: "Explained",
    width: "minmax(12rem, 2fr)",
    cell: ({ explained }) =>
      explained
        .map(
          ({ kind, cost_usd: cost, tokens: count }) =>
            `${kind.replaceAll("_", " ")}: ${cost === 0 ? `${formatNumber(count)} tokens` : formatUsd(cost)}`,
        )
        .join("; "),
  },
];

/** The vendor's figures of the last 30 days next to the gateway's rows. */
export function Reconciliation({ id }: { readonly id: string }): ReactNode {
  const [by, setBy] = useState<(typeof BY)[number]["value"]>("model");
  const found = useQuery({
    queryKey: ["usage-import", id, "reconciliation", by],
    queryFn: () => adminApi.call("GET /v1/admin/usage-import/providers/{id}/reconciliation", { path: { id }, query: { by } }),
    placeholderData: keepPreviousData,
  });
  if (found.isPending) return <Skeleton label="Loading" lines={4} />;
  if (found.isError) return <ErrorState error={found.error} title="The figures could not be compared" requestLabel="Request" />;
  const { totals, rows, split } = found.data;
  return (
    <Panel title="The vendor's figures and the gateway's">
      <div className="grid gap-4">
        <Facts
          items={[
            ["The vendor says", usd(totals.vendor.cost_usd)],
            ["The gateway's rows say", usd(totals.gateway.cost_usd)],
            ["Difference", formatUsd(totals.difference.cost_usd)],
            ["Of days that may still change, in no total", formatUsd(totals.provisional_cost_usd)],
            ["The vendor splits by", split ?? "nothing"],
          ]}
        />
        <SelectField label="By" value={by} choices={BY} onChange={({ target }) => setBy(target.value as typeof by)} />
        {rows.length === 0 ? (
          <EmptyState icon={Scale} title="Nothing to compare">
            Neither the vendor nor the gateway tells of the last 30 days.
          </EmptyState>
        ) : (
          <DataTable
            label="Reconciliation"
            columns={columns}
            rows={rows}
            rowKey={({ day, model, key }) => `${day} ${model ?? ""} ${key ?? ""}`}
            total={rows.length}
          />
        )}
      </div>
    </Panel>
  );
}
