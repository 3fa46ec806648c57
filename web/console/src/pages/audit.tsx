import { Button } from "@gatehouse/web-kit/button.tsx";
import { type Column, DataTable } from "@gatehouse/web-kit/data-table.tsx";
import { formatMoment, formatNumber, formatUsd } from "@gatehouse/web-kit/formats.ts";
import { Badge, PageFrame } from "@gatehouse/web-kit/page.tsx";
import { readOn } from "@gatehouse/web-kit/paged-list.ts";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { saveFile } from "@gatehouse/web-kit/save-file.ts";
import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ScrollText } from "lucide-react";
import { type ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import type { ListedRow } from "../audit/listed-row.ts";
import { withoutRepeats } from "../audit/read-on.ts";
import { RowDetails } from "../audit/row-details.tsx";
import { RowFilters } from "../audit/row-filters.tsx";
import { type ExplorerSearch, rowQueryOf, rowSearchOf } from "../audit/row-search.ts";
import { PRODUCT } from "../product.ts";
import { OfAllTenants } from "../of-all-tenants.tsx";

const PAGE_SIZE = 200;
/** Later pages are bounded by the newest row of the first page. */
const FIRST: { readonly page: number; readonly until_id?: string } = { page: 1 };
/** What a guardrail did to a call that was still served. */
const VERDICTS: Readonly<Record<string, string>> = { redact: "redacted", warn: "warned" };

const COLUMNS: readonly Column<ListedRow>[] = [
  { id: "time", header: "When", width: "15rem", cell: (row) => formatMoment(row.timestamp ?? "") },
  {
    id: "outcome",
    header: "Outcome",
    width: "13.5rem",
    cell: (row) =>
      row.success === true ? (
        <span className="inline-flex gap-1">
          <Badge tone="good">{row.http_status_code ?? "served"}</Badge>
          {row.guardrail_action != null && <Badge tone="warn">{VERDICTS[row.guardrail_action] ?? row.guardrail_action}</Badge>}
        </span>
      ) : (
        <Badge tone="bad">{`${row.http_status_code ?? ""} ${row.error_type ?? "failed"}`}</Badge>
      ),
  },
  { id: "kind", header: "Kind", width: "minmax(10rem, 1fr)", cell: (row) => row.proxy_subtype ?? row.proxy_type },
  {
    id: "what",
    header: "Called",
    width: "minmax(8.5rem, 2fr)",
    cell: (row) => row.llm_model_used ?? row.llm_model_requested ?? row.mcp_capability_name ?? row.endpoint,
  },
  {
    id: "who",
    header: "Who",
    width: "minmax(8.5rem, 2fr)",
    cell: (row) =>
      row.gateway_user_username ??
      (row.subject_id === row.api_key_id ? null : row.subject_id) ??
      row.api_key_name ??
      row.api_key_id ??
      "unknown",
  },
  {
    id: "tokens",
    header: "Tokens",
    width: "6rem",
    align: "end",
    cell: (row) => (row.llm_total_tokens == null ? "" : formatNumber(row.llm_total_tokens)),
  },
  {
    id: "cost",
    header: "Cost",
    width: "7rem",
    align: "end",
    cell: (row) => (row.llm_estimated_cost_usd == null ? "" : formatUsd(row.llm_estimated_cost_usd)),
  },
];

export function AuditPage(): ReactNode {
  const search = rowSearchOf(useSearch({ strict: false }));
  const navigate = useNavigate();
  const go = (next: ExplorerSearch) => void navigate({ to: "/audit", search: next as never, replace: true });
  const rowQuery = rowQueryOf(search);
  const found = useInfiniteQuery({
    queryKey: ["proxy-logs", rowQuery],
    queryFn: ({ pageParam }) =>
      adminApi.call("POST /v1/admin/proxy-logs/query", { body: { ...pageParam, ...rowQuery, page_size: PAGE_SIZE } }),
    initialPageParam: FIRST,
    // By ID, in which the list is ordered, not by time: rows of spans arrive after the spans began.
    getNextPageParam: (last, _all, { page, until_id = last.rows[0]?.id ?? "" }) =>
      last.rows.length < PAGE_SIZE ? undefined : { page: page + 1, until_id },
  });
  const rows = withoutRepeats(found.data?.pages.flatMap((page) => page.rows) ?? []);
  const [newest] = found.data?.pages ?? [];
  const listed = rows.find(({ id }) => id === search.row);
  // The URL may name a row that is not in the search result.
  const alone = useQuery({
    queryKey: ["proxy-log", search.row],
    queryFn: () => adminApi.call("POST /v1/admin/proxy-logs/query", { body: { filters: { id: search.row }, page_size: 1 } }),
    enabled: search.row !== undefined && found.isSuccess && listed === undefined,
  });
  const open = search.row === undefined ? undefined : (listed ?? alone.data?.rows[0]);
  const exported = useMutation({
    async mutationFn() {
      const response = await adminApi.send("/v1/admin/proxy-logs/export", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...rowQuery, format: "csv" }),
      });
      saveFile(await response.blob(), "audit-rows.csv");
    },
  });
  return (
    <PageFrame
      product={PRODUCT}
      title="Audit explorer"
      width="table"
      lead="Every call leaves one row. Press J and K to move through them; the address bar keeps your filters and the open row, so you can share it."
      actions={
        <>
          <Button onClick={() => void found.refetch()}>Refresh</Button>
          <Button onClick={() => exported.mutate()} disabled={exported.isPending}>
            Export as CSV
          </Button>
        </>
      }
    >
      <div className="grid gap-4">
        <OfAllTenants />
        <RowFilters search={search} onChange={go} />
        {exported.isError && <ErrorState error={exported.error} title="The rows could not be exported" requestLabel="Request" />}
        {found.isPending && <Skeleton label="Loading rows" lines={8} />}
        {found.isError && (
          <ErrorState
            error={found.error}
            title="The rows could not be read"
            requestLabel="Request"
            retry={{ label: "Try again", run: () => void found.refetch() }}
          />
        )}
        {found.isSuccess && rows.length === 0 && (
          <EmptyState icon={ScrollText} title="No rows">
            No call fits. A row stands here within a second after its call has ended.
          </EmptyState>
        )}
        {rows.length > 0 && (
          <>
            <p className="text-sm text-muted" role="status">
              {formatNumber(newest?.total ?? rows.length)}
              {newest?.total_is_exact === false ? " and more" : ""} {newest?.total === 1 ? "row" : "rows"}
            </p>
            <DataTable
              label="Rows of the ledger"
              columns={COLUMNS}
              rows={rows}
              rowKey={(row) => row.id ?? ""}
              total={newest?.total ?? rows.length}
              selected={search.row ?? null}
              onSelect={(row) => go({ ...search, ...(row.id == null ? {} : { row: row.id }) })}
              onEnd={() => readOn(found)}
              {...(open === undefined ? {} : { className: "h-[min(45dvh,28rem)]" })}
            />
          </>
        )}
        {open !== undefined && <RowDetails key={open.id} row={open} />}
        {open === undefined && alone.isSuccess && (
          <p role="status" className="text-muted">
            There is no row {search.row}, or it is not for your eyes.
          </p>
        )}
      </div>
    </PageFrame>
  );
}
