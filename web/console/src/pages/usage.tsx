import { Chart } from "@gatehouse/web-kit/chart.tsx";
import { type Column, DataTable } from "@gatehouse/web-kit/data-table.tsx";
import { SelectField } from "@gatehouse/web-kit/field.tsx";
import { formatDate, formatNumber, formatUsd } from "@gatehouse/web-kit/formats.ts";
import { Badge, Facts, PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { readOn } from "@gatehouse/web-kit/paged-list.ts";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { ChartLine } from "lucide-react";
import { type ReactNode, useMemo } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";
import { PRODUCT } from "../product.ts";
import { recordKind } from "../records/record-kinds.ts";
import { ReferenceField } from "../records/reference-field.tsx";
import { divisionOf, TenantUsage } from "../usage/tenant-usage.tsx";

type Run = AdminApiSchemas["Run"];

const PAGE_SIZE = 100;
const GROUPS = recordKind("resource-groups");
const HOUR_MS = 3_600_000;
const WINDOWS = [
  { value: "1", label: "The last day", hours: 24 },
  { value: "7", label: "The last 7 days", hours: 7 * 24 },
  { value: "30", label: "The last 30 days", hours: 30 * 24 },
] as const;

interface UsageSearch {
  readonly group?: string;
  readonly days?: string;
  readonly by?: string;
}

/** Usage of the tenant, then of one resource group and its runs. The selection is in the URL. */
export function UsagePage(): ReactNode {
  const search = useSearch({ strict: false }) as UsageSearch;
  const go = useNavigate();
  const groups = useQuery({
    queryKey: ["records", "resource-groups", "usage"],
    queryFn: () => adminApi.call("GET /v1/admin/resource-groups", { query: { page_size: 1 } }),
  });
  const group = search.group ?? groups.data?.resource_groups[0]?.id;
  const hours = WINDOWS.find(({ value }) => value === search.days)?.hours ?? 24;
  // One time window for the whole page, so that its parts agree.
  const query = useMemo(() => {
    const now = Date.now();
    return { from: new Date(now - hours * HOUR_MS).toISOString(), to: new Date(now).toISOString() };
  }, [hours]);
  const choose = (next: UsageSearch) => void go({ to: "/usage", search: { ...search, ...next } as never, replace: true });
  return (
    <PageFrame
      product={PRODUCT}
      title="Usage and runs"
      lead="Cost and tokens by group, key, model, day or label, with the outcome and runs of one resource group."
    >
      <div className="grid gap-4">
        <div className="sm:max-w-80">
          <SelectField
            label="Period"
            value={search.days ?? "1"}
            choices={WINDOWS}
            onChange={({ target }) => choose({ days: target.value })}
          />
        </div>
        <TenantUsage query={query} by={divisionOf(search.by)} onDivide={(next) => choose({ by: next })} />
        <div className="sm:max-w-80">
          {GROUPS !== undefined && (
            <ReferenceField
              kind={GROUPS}
              label="Resource group"
              value={group ?? null}
              onChange={(next) => next !== null && choose({ group: next })}
            />
          )}
        </div>
        {groups.isPending && <Skeleton label="Loading" />}
        {groups.isError && <ErrorState error={groups.error} title="The resource groups could not be read" requestLabel="Request" />}
        {group !== undefined && <GroupUsage key={`${group} ${hours}`} id={group} query={query} />}
      </div>
    </PageFrame>
  );
}

function GroupUsage({ id, query }: Part): ReactNode {
  const stats = useQuery({
    queryKey: ["runs", id, "stats", query],
    queryFn: () => adminApi.call("GET /v1/admin/ai-systems/{id}/runs/stats", { path: { id }, query }),
  });
  if (stats.isPending) return <Skeleton label="Loading" />;
  if (stats.isError) return <ErrorState error={stats.error} title="The usage could not be read" requestLabel="Request" />;
  const { runs, cost, tokens, errors, tool_errors: toolErrors, trajectory_length: length } = stats.data;
  if (runs === 0)
    return (
      <EmptyState icon={ChartLine} title="No calls in this period">
        Calls of the group&apos;s keys and people stand here within moments.
      </EmptyState>
    );
  return (
    <>
      <Panel title="This resource group">
        <Facts
          items={[
            ["Runs", formatNumber(runs)],
            ["Cost", formatUsd(cost.total_usd)],
            ["Cost of a run", cost.per_run_usd === null ? "unknown" : formatUsd(cost.per_run_usd)],
            ...(cost.unpriced_calls > 0 ? [["Calls without a price", formatNumber(cost.unpriced_calls)] as const] : []),
            ["Tokens", `${formatNumber(tokens.prompt)} in, ${formatNumber(tokens.completion)} out`],
            [
              "Calls in a run",
              length.mean === null ? "none" : `${formatNumber(Math.round(length.mean * 10) / 10)}, at most ${formatNumber(length.max)}`,
            ],
            ["Calls that failed", `${formatNumber(errors.errors)} of ${formatNumber(errors.calls)}`],
            ["Tool calls that failed", `${formatNumber(toolErrors.errors)} of ${formatNumber(toolErrors.calls)}`],
          ]}
        />
      </Panel>
      <Plots id={id} query={query} />
      <Runs id={id} query={query} />
    </>
  );
}

interface Part {
  readonly id: string;
  readonly query: { readonly from: string; readonly to: string };
}

function Plots({ id, query }: Part): ReactNode {
  const series = useQuery({
    queryKey: ["runs", id, "timeseries", query],
    queryFn: () => adminApi.call("GET /v1/admin/ai-systems/{id}/runs/timeseries", { path: { id }, query }),
  });
  const buckets = series.data?.buckets;
  const drawn = useMemo(
    () =>
      buckets === undefined
        ? null
        : {
            times: buckets.map(({ at }) => new Date(at).getTime() / 1000),
            cost: [{ label: "Cost", values: buckets.map(({ cost }) => cost.total_usd) }],
            tokens: [
              { label: "Tokens in", values: buckets.map(({ tokens }) => tokens.prompt) },
              { label: "Tokens out", values: buckets.map(({ tokens }) => tokens.completion) },
            ],
            calls: [
              { label: "Calls", values: buckets.map(({ errors }) => errors.calls) },
              { label: "Failed", values: buckets.map(({ errors }) => errors.errors) },
            ],
          },
    [buckets],
  );
  if (drawn === null) return null;
  const common = { times: drawn.times, timeLabel: "Time", tableLabel: "Show as table" };
  return (
    <div className="grid gap-4 lg:grid-cols-3">
      <Panel>
        <Chart {...common} caption="Cost" series={drawn.cost} format={formatUsd} />
      </Panel>
      <Panel>
        <Chart {...common} caption="Tokens" series={drawn.tokens} format={formatNumber} />
      </Panel>
      <Panel>
        <Chart {...common} caption="Calls" series={drawn.calls} format={formatNumber} />
      </Panel>
    </div>
  );
}

const COLUMNS: readonly Column<Run>[] = [
  { id: "at", header: "Began", width: "12rem", cell: ({ started_at: at }) => formatDate(at) },
  {
    id: "run",
    header: "Run",
    width: "minmax(12rem, 2fr)",
    cell: ({ run_id: run, root_task_id: id }) => (
      <Link to="/runs/$id" params={{ id }} className="text-accent underline">
        {run}
      </Link>
    ),
  },
  {
    id: "state",
    header: "State",
    width: "minmax(8rem, 1fr)",
    cell: ({ state }) => (
      <Badge tone={state === "completed" ? "good" : state === "open" ? "accent" : "warn"}>{state.replaceAll("_", " ")}</Badge>
    ),
  },
  { id: "calls", header: "Calls", width: "5rem", align: "end", cell: ({ calls }) => formatNumber(calls) },
  { id: "errors", header: "Failed", width: "5rem", align: "end", cell: ({ errors }) => formatNumber(errors) },
  { id: "tokens", header: "Tokens", width: "6rem", align: "end", cell: ({ total_tokens: tokens }) => formatNumber(tokens) },
  { id: "cost", header: "Cost", width: "6rem", align: "end", cell: ({ cost_usd: cost }) => formatUsd(cost) },
];

function Runs({ id, query }: Part): ReactNode {
  const found = useInfiniteQuery({
    queryKey: ["runs", id, "list", query],
    queryFn: ({ pageParam }) =>
      adminApi.call("GET /v1/admin/ai-systems/{id}/runs", { path: { id }, query: { ...query, page: pageParam, page_size: PAGE_SIZE } }),
    initialPageParam: 1,
    getNextPageParam: (last) => (last.runs.length < PAGE_SIZE ? undefined : last.page + 1),
  });
  const runs = found.data?.pages.flatMap((page) => page.runs) ?? [];
  return (
    <>
      {found.isError && (
        <ErrorState
          error={found.error}
          title="The runs could not be read"
          requestLabel="Request"
          retry={{ label: "Try again", run: () => void found.refetch() }}
        />
      )}
      {runs.length > 0 && (
        <DataTable
          label="Runs"
          columns={COLUMNS}
          rows={runs}
          rowKey={(run) => run.root_task_id}
          total={found.data?.pages[0]?.total ?? runs.length}
          onEnd={() => readOn(found)}
        />
      )}
    </>
  );
}
