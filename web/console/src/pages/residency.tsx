import { type Column, DataTable } from "@gatehouse/web-kit/data-table.tsx";
import { formatNumber } from "@gatehouse/web-kit/formats.ts";
import { Badge, Facts, PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Globe } from "lucide-react";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";
import { PRODUCT } from "../product.ts";

type Residency = AdminApiSchemas["ResidencyReport"];
type Place = Residency["places"][number];

const TONES: Readonly<Record<string, "good" | "bad" | "neutral">> = { allowed: "good", blocked: "bad", not_evaluated: "neutral" };

function ProofLink({ row, label }: { readonly row: string; readonly label: string }): ReactNode {
  return (
    <Link to="/audit" search={{ q: row, row } as never} className="text-accent underline">
      {label}
    </Link>
  );
}

const columns: Column<Place>[] = [
  { id: "region", header: "Region", width: "minmax(7rem, 1fr)", cell: ({ region }) => region ?? "not known" },
  {
    id: "recipient",
    header: "Recipient",
    width: "minmax(9rem, 2fr)",
    cell: ({ kind, recipient }) => (kind === "nobody" ? "nobody: kept from leaving" : (recipient ?? "")),
  },
  { id: "model", header: "Model", width: "minmax(7rem, 1fr)", cell: ({ model }) => model ?? "" },
  {
    id: "class",
    header: "Residency",
    width: "minmax(7rem, 1fr)",
    cell: ({ residency_class: found }) =>
      found === null ? "" : <Badge tone={TONES[found] ?? "neutral"}>{found.replaceAll("_", " ")}</Badge>,
  },
  { id: "calls", header: "Calls", width: "minmax(4rem, 1fr)", align: "end", cell: ({ calls }) => formatNumber(calls) },
  {
    id: "proof",
    header: "Proof",
    width: "minmax(8rem, 1fr)",
    cell: ({ first_row: first, last_row: last }) => (
      <span className="flex gap-3">
        <ProofLink row={first} label="first row" />
        <ProofLink row={last} label="last row" />
      </span>
    ),
  },
];

function Regions({ report }: { readonly report: Residency }): ReactNode {
  const most = Math.max(1, ...report.regions.map(({ calls, blocked }) => calls + blocked));
  return (
    <Panel title="Regions">
      <ul className="grid gap-3">
        {report.regions.map(({ region, allowed, calls, blocked }) => (
          <li key={region ?? ""} className="grid gap-1">
            <span className="flex flex-wrap items-center justify-between gap-2">
              <strong>{region ?? "not known"}</strong>
              <span className="flex items-center gap-2">
                {formatNumber(calls)} calls{blocked > 0 ? `, ${formatNumber(blocked)} kept from leaving` : ""}
                <Badge tone={allowed === null ? "neutral" : allowed ? "good" : "bad"}>
                  {allowed === null ? "no region" : allowed ? "allowed" : "not allowed"}
                </Badge>
              </span>
            </span>
            <progress className="h-2 w-full" max={most} value={calls} aria-label={`Calls that went to ${region ?? "places not known"}`} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** Where content was sent in the last 30 days, by region and recipient, with example rows. */
export function ResidencyPage(): ReactNode {
  const report = useQuery({ queryKey: ["compliance", "residency"], queryFn: () => adminApi.call("GET /v1/admin/compliance/residency") });
  return (
    <PageFrame product={PRODUCT} title="Residency" lead="Where content went in the last 30 days, with the rows behind it.">
      <div className="grid gap-4">
        {report.isPending && <Skeleton label="Loading" lines={5} />}
        {report.isError && <ErrorState error={report.error} title="Where content went could not be read" requestLabel="Request" />}
        {report.isSuccess && (
          <>
            <Facts
              items={[
                ["Allowed regions", report.data.allowed_regions.join(", ") || "any"],
                ["Calls", formatNumber(report.data.calls)],
              ]}
            />
            {report.data.places.length === 0 ? (
              <EmptyState icon={Globe} title="Nothing left">
                No call of the last 30 days went to a provider or tool server.
              </EmptyState>
            ) : (
              <>
                <Regions report={report.data} />
                <DataTable
                  label="Places"
                  columns={columns}
                  rows={report.data.places}
                  rowKey={({ first_row: first }) => first}
                  total={report.data.places.length}
                />
              </>
            )}
          </>
        )}
      </div>
    </PageFrame>
  );
}
