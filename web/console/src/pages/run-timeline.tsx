import { formatDate, formatNumber, formatUsd } from "@gatehouse/web-kit/formats.ts";
import { Badge, Facts, PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { readOn } from "@gatehouse/web-kit/paged-list.ts";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { Waypoints } from "lucide-react";
import { type ReactNode, useEffect } from "react";
import { adminApi } from "../admin-client.ts";
import type { ListedRow } from "../audit/listed-row.ts";
import { PRODUCT } from "../product.ts";

const PAGE_SIZE = 200;
/** Page limit; runs with more calls are shown in the audit explorer. */
const MAX_PAGES = 10;

const startOf = (row: ListedRow) => Date.parse(row.timestamp ?? "");
const endOf = (row: ListedRow) => startOf(row) + (row.duration_ms ?? 0);
const sum = (rows: readonly ListedRow[], of: (row: ListedRow) => number | null | undefined) =>
  rows.reduce((total, row) => total + (of(row) ?? 0), 0);
const seconds = (ms: number) => `${formatNumber(Math.round(ms) / 1000)} s`;
const calledIn = (row: ListedRow) =>
  row.llm_model_used ?? row.llm_model_requested ?? row.mcp_capability_name ?? row.skill_id ?? row.endpoint ?? "";

/** Everything a run did, in chronological order, turn by turn. */
export function RunTimelinePage(): ReactNode {
  const { id = "" } = useParams({ strict: false });
  const found = useInfiniteQuery({
    queryKey: ["run", id],
    queryFn: ({ pageParam }) =>
      adminApi.call("POST /v1/admin/proxy-logs/query", {
        body: { filters: { root_task_id: id }, order: "asc", page: pageParam, page_size: PAGE_SIZE },
      }),
    initialPageParam: 1,
    getNextPageParam: (last) => (last.rows.length < PAGE_SIZE || last.page >= MAX_PAGES ? undefined : last.page + 1),
  });
  useEffect(() => readOn(found), [found]);
  const rows = found.data?.pages.flatMap((page) => page.rows) ?? [];
  return (
    <PageFrame
      product={PRODUCT}
      title="Run"
      lead={
        <Link to="/audit" search={{ where: { root_task_id: id } } as never} className="text-accent underline">
          Its rows in the audit explorer
        </Link>
      }
    >
      {found.isPending && <Skeleton label="Loading the run" lines={6} />}
      {found.isError && (
        <ErrorState
          error={found.error}
          title="The run could not be read"
          requestLabel="Request"
          retry={{ label: "Try again", run: () => void found.refetch() }}
        />
      )}
      {found.isSuccess && rows.length === 0 && (
        <EmptyState icon={Waypoints} title="No call of this run">
          A run has the calls that named it with the header x-gw-run-id. A call without one is a run of its own.
        </EmptyState>
      )}
      {rows.length > 0 && <Timeline id={id} rows={rows} isCut={rows.length < (found.data?.pages.at(-1)?.total ?? 0)} />}
    </PageFrame>
  );
}

function Timeline({ id, rows, isCut }: { readonly id: string; readonly rows: readonly ListedRow[]; readonly isCut: boolean }): ReactNode {
  const from = Math.min(...rows.map(startOf));
  const until = Math.max(...rows.map(endOf), from + 1);
  const turns = Map.groupBy(rows, ({ turn_id: turn, turn_seq: seq }) => turn ?? (seq == null ? "" : String(seq)));
  const failed = rows.filter(({ success }) => success === false).length;
  return (
    <div className="grid gap-4">
      <Panel title={isCut ? `Its first ${formatNumber(rows.length)} calls` : "Whole run"}>
        <Facts
          items={[
            ["Run", id],
            ["Began", formatDate(new Date(from).toISOString())],
            ["Took", seconds(until - from)],
            ["Calls", `${formatNumber(rows.length)}, ${formatNumber(failed)} refused or failed`],
            ["Tokens", formatNumber(sum(rows, (row) => row.llm_total_tokens))],
            ["Cost", formatUsd(sum(rows, (row) => row.llm_estimated_cost_usd))],
          ]}
        />
      </Panel>
      {[...turns].map(([turn, calls], at) => (
        <Panel key={turn} title={turn === "" ? "Outside of turns" : `Turn ${at + 1}`}>
          <ol className="grid gap-2">
            {calls.map((row) => (
              <li key={row.id}>
                <Link
                  to="/audit"
                  search={{ where: { root_task_id: id }, row: row.id } as never}
                  className="grid gap-1 rounded-lg p-2 hover:bg-sunken"
                >
                  <span className="flex flex-wrap items-center gap-2 text-sm">
                    <Badge tone={row.success === true ? "good" : "bad"}>
                      {row.success === true ? "served" : (row.error_type ?? "failed")}
                    </Badge>
                    <span className="font-medium break-all">{calledIn(row)}</span>
                    <span className="text-muted">
                      {row.proxy_subtype ?? row.proxy_type}, {seconds(startOf(row) - from)} in, took {seconds(row.duration_ms ?? 0)}
                      {row.step_name == null ? "" : `, ${row.step_name}`}
                      {row.llm_total_tokens == null ? "" : `, ${formatNumber(row.llm_total_tokens)} tokens`}
                      {row.llm_estimated_cost_usd == null ? "" : `, ${formatUsd(row.llm_estimated_cost_usd)}`}
                    </span>
                  </span>
                  <span aria-hidden className="relative block h-2 overflow-hidden rounded-full bg-sunken">
                    <span
                      className={`absolute inset-y-0 min-w-1 rounded-full ${row.success === true ? "bg-accent" : "bg-bad"}`}
                      style={{
                        left: `${((startOf(row) - from) / (until - from)) * 100}%`,
                        width: `${((row.duration_ms ?? 0) / (until - from)) * 100}%`,
                      }}
                    />
                  </span>
                </Link>
              </li>
            ))}
          </ol>
        </Panel>
      ))}
    </div>
  );
}
