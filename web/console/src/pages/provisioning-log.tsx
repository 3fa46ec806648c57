import { type Column, DataTable } from "@gatehouse/web-kit/data-table.tsx";
import { EnteredTextField, SelectField } from "@gatehouse/web-kit/field.tsx";
import { formatDate, formatNumber } from "@gatehouse/web-kit/formats.ts";
import { Badge, Facts, PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { readOn } from "@gatehouse/web-kit/paged-list.ts";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { FolderSync } from "lucide-react";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import { PRODUCT } from "../product.ts";
import { memberLabel } from "../records/api-schema.ts";
import { OUTCOMES, type ProvisioningSearch, provisioningSearchOf } from "../sign-on/provisioning-search.ts";

const PAGE_SIZE = 200;
const read = ({ directory, resource, outcome, id }: ProvisioningSearch, page: number) =>
  adminApi.call("GET /v1/admin/provisioning-log", {
    query: {
      page,
      page_size: PAGE_SIZE,
      ...(directory === undefined ? {} : { directory }),
      ...(resource === undefined ? {} : { resource_type: resource }),
      ...(outcome === undefined ? {} : { outcome }),
      ...(id === undefined ? {} : { resource_id: id }),
    },
  });
type Entry = Awaited<ReturnType<typeof read>>["entries"][number];

const TONES: Partial<Record<Entry["outcome"], "good" | "warn" | "bad">> = {
  created: "good",
  deactivated: "warn",
  deleted: "warn",
  conflict: "bad",
  refused: "bad",
};

const COLUMNS: readonly Column<Entry>[] = [
  { id: "at", header: "When", width: "13rem", cell: ({ at }) => formatDate(at) },
  { id: "directory", header: "Directory", width: "minmax(7rem, 1fr)", cell: ({ directory }) => directory },
  { id: "outcome", header: "Outcome", width: "8rem", cell: ({ outcome }) => <Badge tone={TONES[outcome] ?? "neutral"}>{outcome}</Badge> },
  { id: "type", header: "What", width: "5rem", cell: (entry) => entry.resource_type },
  { id: "id", header: "Which", width: "minmax(12rem, 2fr)", cell: (entry) => entry.resource_id ?? "" },
  { id: "status", header: "Answer", width: "5rem", align: "end", cell: ({ status }) => String(status) },
];

/** What directories changed, and which requests were refused, with the reason. */
export function ProvisioningLogPage(): ReactNode {
  const search = provisioningSearchOf(useSearch({ strict: false }));
  const go = useNavigate();
  const [open, setOpen] = useState<Entry | null>(null);
  const change = (next: Record<string, unknown>) =>
    void go({ to: "/provisioning-log", search: provisioningSearchOf({ ...search, ...next }), replace: true });
  const found = useInfiniteQuery({
    queryKey: ["provisioning-log", search],
    queryFn: ({ pageParam }) => read(search, pageParam),
    initialPageParam: 1,
    getNextPageParam: (last, all) => (last.entries.length < PAGE_SIZE ? undefined : all.length + 1),
  });
  const entries = found.data?.pages.flatMap((page) => page.entries) ?? [];
  const isFiltered = Object.keys(search).length > 0;
  return (
    <PageFrame
      product={PRODUCT}
      title="Provisioning log"
      lead="What directories created, updated and deactivated, and which requests were refused."
    >
      <div className="grid grid-cols-1 gap-4">
        <form role="search" className="grid gap-3 sm:grid-cols-2 lg:grid-cols-4" onSubmit={(event) => event.preventDefault()}>
          <EnteredTextField label="Directory" value={search.directory ?? ""} onEnter={(value) => change({ directory: value })} />
          <SelectField
            label="What"
            value={search.resource ?? ""}
            choices={[
              { value: "", label: "People and groups" },
              { value: "User", label: "People" },
              { value: "Group", label: "Groups" },
            ]}
            onChange={({ target }) => change({ resource: target.value })}
          />
          <SelectField
            label="Outcome"
            value={search.outcome ?? ""}
            choices={[{ value: "", label: "All outcomes" }, ...OUTCOMES.map((value) => ({ value, label: memberLabel(value) }))]}
            onChange={({ target }) => change({ outcome: target.value })}
          />
          <EnteredTextField label="Id of one" value={search.id ?? ""} onEnter={(value) => change({ id: value })} />
        </form>
        {found.isPending && <Skeleton label="Loading" lines={8} />}
        {found.isError && (
          <ErrorState
            error={found.error}
            title="The provisioning log could not be read"
            requestLabel="Request"
            retry={{ label: "Try again", run: () => void found.refetch() }}
          />
        )}
        {found.isSuccess && entries.length === 0 && (
          <EmptyState icon={FolderSync} title={isFiltered ? "Nothing of that kind" : "No directory has changed anything yet"}>
            {isFiltered ? (
              "Broaden your search."
            ) : (
              <>
                Make a{" "}
                <Link to="/manage/$kind" params={{ kind: "scim-tokens" }} className="text-accent underline">
                  provisioning token
                </Link>{" "}
                for your directory. What it does then stands here.
              </>
            )}
          </EmptyState>
        )}
        {entries.length > 0 && (
          <>
            <p role="status" className="text-sm text-muted">
              {formatNumber(found.data?.pages[0]?.total ?? entries.length)} entries
            </p>
            <DataTable
              label="What directories did"
              columns={COLUMNS}
              rows={entries}
              rowKey={({ id }) => id}
              selected={open?.id ?? null}
              onSelect={setOpen}
              onEnd={() => readOn(found)}
            />
          </>
        )}
        {open !== null && <EntryDetail entry={open} />}
      </div>
    </PageFrame>
  );
}

function EntryDetail({ entry }: { readonly entry: Entry }): ReactNode {
  const kind = entry.resource_type === "User" ? "people" : "groups-of-people";
  const isThere = entry.resource_id !== null && entry.outcome !== "deleted";
  return (
    <Panel title={`${entry.method}, ${entry.outcome}`}>
      <Facts
        items={[
          ["When", formatDate(entry.at)],
          [
            entry.resource_type === "User" ? "Person" : "Group",
            isThere && entry.resource_id !== null ? (
              <Link key="record" to="/manage/$kind/$id" params={{ kind, id: entry.resource_id }} className="text-accent underline">
                {entry.resource_id}
              </Link>
            ) : (
              (entry.resource_id ?? "none")
            ),
          ],
          ["Token", entry.token_id ?? "none"],
          ...Object.entries(entry.detail).map(
            ([name, value]) => [memberLabel(name), typeof value === "string" ? value : JSON.stringify(value)] as const,
          ),
        ]}
      />
    </Panel>
  );
}
