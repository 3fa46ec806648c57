import { Button } from "@gatehouse/web-kit/button.tsx";
import { type Column, DataTable } from "@gatehouse/web-kit/data-table.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatDate, formatNumber } from "@gatehouse/web-kit/formats.ts";
import { PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { History } from "lucide-react";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import { PRODUCT } from "../product.ts";

const PAGE_SIZE = 200;
const read = (page: number) => adminApi.call("GET /v1/admin/admin-log", { query: { page, page_size: PAGE_SIZE } });
type Entry = Awaited<ReturnType<typeof read>>["entries"][number];

const COLUMNS: readonly Column<Entry>[] = [
  { id: "at", header: "When", width: "13rem", cell: (entry) => formatDate(entry.at) },
  { id: "actor", header: "Who", width: "minmax(8rem, 1fr)", cell: (entry) => entry.actor_username ?? "the gateway" },
  { id: "action", header: "Did", width: "minmax(7rem, 1fr)", cell: (entry) => entry.action },
  { id: "kind", header: "To", width: "minmax(8rem, 1fr)", cell: (entry) => entry.resource },
  { id: "id", header: "Which", width: "minmax(12rem, 2fr)", cell: (entry) => entry.resource_id ?? "" },
];

/** What administrators changed, in a chain of its own. */
export function AdminLogPage(): ReactNode {
  const [open, setOpen] = useState<Entry | null>(null);
  const found = useInfiniteQuery({
    queryKey: ["admin-log"],
    queryFn: ({ pageParam }) => read(pageParam),
    initialPageParam: 1,
    getNextPageParam: (last, all) => (last.entries.length < PAGE_SIZE ? undefined : all.length + 1),
  });
  const verify = useMutation({ mutationFn: () => adminApi.call("POST /v1/admin/admin-log/verify") });
  const entries = found.data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <PageFrame
      product={PRODUCT}
      title="Admin log"
      lead="Every change of an administrator, with what was there before. Entries are chained and signed as the rows of calls are."
      actions={
        <Button busy={verify.isPending} onClick={() => verify.mutate()}>
          Verify it
        </Button>
      }
    >
      <div className="grid gap-4">
        <FormError error={verify.error} />
        {verify.isSuccess && (
          <Panel title="Verified">
            <pre tabIndex={0} aria-label="What the verification found" className="overflow-auto text-xs whitespace-pre-wrap">
              {JSON.stringify(verify.data, null, 2)}
            </pre>
          </Panel>
        )}
        {found.isPending && <Skeleton label="Loading" lines={8} />}
        {found.isError && <ErrorState error={found.error} title="The admin log could not be read" requestLabel="Request" />}
        {found.isSuccess && entries.length === 0 && (
          <EmptyState icon={History} title="No change yet">
            Each change of an administrator stands here.
          </EmptyState>
        )}
        {entries.length > 0 && (
          <>
            <p className="text-sm text-muted" role="status">
              {formatNumber(found.data?.pages[0]?.total ?? entries.length)} changes
            </p>
            <DataTable
              label="Changes"
              columns={COLUMNS}
              rows={entries}
              rowKey={({ id }) => id}
              selected={open?.id ?? null}
              onSelect={setOpen}
              onEnd={() => {
                if (found.hasNextPage && !found.isFetchingNextPage) void found.fetchNextPage();
              }}
            />
          </>
        )}
        {open !== null && (
          <Panel title="What changed">
            <pre tabIndex={0} aria-label="What changed" className="max-h-96 overflow-auto text-xs whitespace-pre-wrap">
              {JSON.stringify(open, null, 2)}
            </pre>
          </Panel>
        )}
      </div>
    </PageFrame>
  );
}
