import { Button } from "@gatehouse/web-kit/button.tsx";
import { type Column, DataTable } from "@gatehouse/web-kit/data-table.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatMoment, formatNumber } from "@gatehouse/web-kit/formats.ts";
import { PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { readOn } from "@gatehouse/web-kit/paged-list.ts";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { saveFile } from "@gatehouse/web-kit/save-file.ts";
import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { History } from "lucide-react";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApi } from "../api/admin-api.generated.ts";
import { ChangeDetails, type ChangeEntry, changedName } from "../audit/change-details.tsx";
import { ChangeFilters } from "../audit/change-filters.tsx";
import { type ChangeSearch, changeQueryOf, changeSearchOf } from "../audit/change-search.ts";
import { FIRST_PAGE, type PageOn, pageAfter, withoutRepeats } from "../audit/read-on.ts";
import { AcknowledgeFindings } from "../audit/acknowledge-findings.tsx";
import { VerificationView } from "../audit/verification.tsx";
import { PRODUCT } from "../product.ts";
import { OfAllTenants } from "../of-all-tenants.tsx";

const PAGE_SIZE = 200;
type Verification = AdminApi["POST /v1/admin/admin-log/verify"]["answer"];
const read = (search: ChangeSearch, page: PageOn) =>
  adminApi.call("GET /v1/admin/admin-log", { query: { ...page, ...changeQueryOf(search), page_size: PAGE_SIZE } });

const COLUMNS: readonly Column<ChangeEntry>[] = [
  { id: "at", header: "When", width: "15rem", cell: (entry) => formatMoment(entry.at) },
  { id: "actor", header: "Who", width: "minmax(8rem, 1fr)", cell: (entry) => entry.actor_username ?? "the gateway" },
  { id: "action", header: "Action", width: "minmax(7rem, 1fr)", cell: (entry) => entry.action },
  { id: "kind", header: "To", width: "minmax(8rem, 1fr)", cell: (entry) => entry.resource },
  { id: "id", header: "Which", width: "minmax(12rem, 2fr)", cell: (entry) => changedName(entry) ?? entry.resource_id ?? "" },
];

/** Changes made by administrators, recorded in a chain of their own. */
export function AdminLogPage(): ReactNode {
  const search = changeSearchOf(useSearch({ strict: false }));
  const go = useNavigate();
  const [open, setOpen] = useState<ChangeEntry | null>(null);
  const change = (next: Readonly<Record<string, unknown>>) =>
    void go({ to: "/admin-log", search: changeSearchOf({ ...search, ...next }) as never, replace: true });
  const found = useInfiniteQuery({
    queryKey: ["admin-log", search],
    queryFn: ({ pageParam }) => read(search, pageParam),
    initialPageParam: FIRST_PAGE,
    getNextPageParam: (last, _all, on) =>
      last.entries.length < PAGE_SIZE
        ? undefined
        : pageAfter(
            on,
            last.entries.map(({ at }) => at),
          ),
  });
  const [verification, setVerification] = useState<Verification>();
  const verify = useMutation({ mutationFn: () => adminApi.call("POST /v1/admin/admin-log/verify"), onSuccess: setVerification });
  const exported = useMutation({
    async mutationFn() {
      const answer = await adminApi.send("/v1/admin/admin-log/export");
      saveFile(await answer.blob(), "admin-log.jsonl");
    },
  });
  const total = found.data?.pages[0]?.total ?? 0;
  const entries = withoutRepeats(found.data?.pages.flatMap((page) => page.entries) ?? []);
  return (
    <PageFrame
      product={PRODUCT}
      title="Admin log"
      width="table"
      lead="Every change made by an administrator, with the previous values. Entries are hash-chained and signed like audit rows."
      actions={
        <>
          <Button busy={verify.isPending} onClick={() => verify.mutate()}>
            Verify it
          </Button>
          <Button busy={exported.isPending} onClick={() => exported.mutate()}>
            Export for an auditor
          </Button>
        </>
      }
    >
      <div className="grid grid-cols-1 gap-4">
        <OfAllTenants />
        <ChangeFilters key={JSON.stringify([search.action, search.resource])} search={search} onChange={change} />
        <FormError error={verify.error ?? exported.error} />
        {verification !== undefined && (
          <Panel title="Verification result">
            <VerificationView verification={verification} />
            <AcknowledgeFindings verification={verification} onDone={setVerification} />
          </Panel>
        )}
        {found.isPending && <Skeleton label="Loading" lines={8} />}
        {found.isError && (
          <ErrorState
            error={found.error}
            title="The admin log could not be read"
            requestLabel="Request"
            retry={{ label: "Try again", run: () => void found.refetch() }}
          />
        )}
        {found.isSuccess && entries.length === 0 && (
          <EmptyState icon={History} title={Object.keys(search).length > 0 ? "No matches" : "No changes yet"}>
            {Object.keys(search).length > 0 ? "Broaden your search." : "Changes made by administrators appear here."}
          </EmptyState>
        )}
        {entries.length > 0 && (
          <>
            <p className="text-sm text-muted" role="status">
              {formatNumber(total)} {total === 1 ? "change" : "changes"}
            </p>
            <DataTable
              label="Changes"
              columns={COLUMNS}
              rows={entries}
              rowKey={({ id }) => id}
              selected={open?.id ?? null}
              onSelect={setOpen}
              onEnd={() => readOn(found)}
            />
          </>
        )}
        {open !== null && <ChangeDetails entry={open} />}
      </div>
    </PageFrame>
  );
}
