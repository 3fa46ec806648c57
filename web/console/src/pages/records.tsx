import { Button, buttonClass } from "@gatehouse/web-kit/button.tsx";
import { type Column, DataTable } from "@gatehouse/web-kit/data-table.tsx";
import { TextField } from "@gatehouse/web-kit/field.tsx";
import { formatNumber } from "@gatehouse/web-kit/formats.ts";
import { PageFrame } from "@gatehouse/web-kit/page.tsx";
import { readOn } from "@gatehouse/web-kit/paged-list.ts";
import { useSession } from "@gatehouse/web-kit/session.ts";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { adminSession } from "../admin-client.ts";
import { ConsoleNotFound } from "../console-frame.tsx";
import { PRODUCT } from "../product.ts";
import { PeopleExport } from "../people/person-data.tsx";
import { hasOperation, isAllowed, memberLabel } from "../records/api-schema.ts";
import { HealthChecks } from "../records/health-checks.tsx";
import { RequestSamples } from "../records/request-samples.tsx";
import type { RecordKind } from "../records/record-kind.ts";
import { recordKind } from "../records/record-kinds.ts";
import { RecordValue } from "../records/record-value.tsx";
import { SkillImport } from "../skills/skill-import.tsx";
import { type ApiRecord, documentQuery, readRecords, shownName, recordsKey } from "../records/records-client.ts";

export function RecordsPage(): ReactNode {
  const { kind: slug } = useParams({ strict: false });
  const kind = recordKind(slug);
  return kind === undefined ? <ConsoleNotFound /> : <Records key={kind.slug} kind={kind} />;
}

/** Column widths for members with long values, or values that differ only towards their end. */
const WIDTHS: readonly (readonly [member: RegExp, width: string])[] = [
  [/_at$/, "14.5rem"],
  [/^(?:email|base_url|description|constraint_text|purpose)$/, "minmax(12rem, 2fr)"],
  [/^(?:display_name|model_name|resource_group_id|primary_group_id)$/, "minmax(9rem, 1.5fr)"],
];

function columnsOf(kind: RecordKind): Column<ApiRecord>[] {
  return kind.columns.map((member, at) => ({
    id: member,
    header: memberLabel(member),
    width: at === 0 ? "minmax(10rem, 2fr)" : (WIDTHS.find(([of]) => of.test(member))?.[1] ?? "minmax(6.5rem, 1fr)"),
    cell: (record) =>
      member === kind.nameMember ? (
        <Link to="/manage/$kind/$id" params={{ kind: kind.slug, id: String(record["id"]) }} className="text-accent underline">
          {kind.references?.[member] === undefined ? (
            shownName(kind, record)
          ) : (
            <RecordValue kind={kind} member={member} value={record[member]} />
          )}
        </Link>
      ) : (
        <RecordValue kind={kind} member={member} value={record[member]} />
      ),
  }));
}

function NewButton({ kind }: { readonly kind: RecordKind }): ReactNode {
  return (
    <Link to="/manage/$kind/new" params={{ kind: kind.slug }} className={buttonClass("primary")}>
      New {kind.noun}
    </Link>
  );
}

function Records({ kind }: { readonly kind: RecordKind }): ReactNode {
  const searchParams = useSearch({ strict: false }) as { q?: unknown };
  const q = typeof searchParams.q === "string" ? searchParams.q : "";
  const [text, setText] = useState(q);
  const go = useNavigate();
  const session = useSession(adminSession);
  const api = useQuery(documentQuery);
  const found = useInfiniteQuery({
    queryKey: [...recordsKey(kind), "list", q],
    queryFn: ({ pageParam }) => readRecords(kind, q, pageParam),
    initialPageParam: 1,
    getNextPageParam: (last, all) =>
      all.reduce((count, { items }) => count + items.length, 0) < last.total && last.items.length > 0 ? all.length + 1 : undefined,
  });
  const rows = found.data?.pages.flatMap(({ items }) => items) ?? [];
  const total = found.data?.pages[0]?.total ?? 0;
  const createPath = kind.createPath ?? kind.path;
  const user = session.state === "in" ? session.user : {};
  const mayCreate = api.isSuccess && hasOperation(api.data, "POST", createPath) && isAllowed(api.data, "POST", createPath, user);
  return (
    <PageFrame
      product={PRODUCT}
      title={kind.title}
      lead={kind.lead}
      width="table"
      actions={
        rows.length > 0 ? (
          <>
            {kind.slug === "people" && <PeopleExport />}
            {mayCreate && <NewButton kind={kind} />}
          </>
        ) : undefined
      }
    >
      <div className="grid gap-4">
        {kind.noSearch !== true && (q !== "" || rows.length > 0) && (
          <form
            role="search"
            className="flex flex-wrap items-end gap-3"
            onSubmit={(event) => {
              event.preventDefault();
              void go({
                to: "/manage/$kind",
                params: { kind: kind.slug },
                search: (text.trim() === "" ? {} : { q: text.trim() }) as never,
                replace: true,
              });
            }}
          >
            <TextField label="Search" type="search" value={text} maxLength={200} onChange={({ target }) => setText(target.value)} />
            <Button type="submit">Search</Button>
          </form>
        )}
        {found.isPending && <Skeleton label="Loading" lines={6} />}
        {found.isError && (
          <ErrorState
            error={found.error}
            title={`${kind.title} could not be read`}
            requestLabel="Request"
            retry={{ label: "Try again", run: () => void found.refetch() }}
          />
        )}
        {found.isSuccess && rows.length === 0 && (
          <EmptyState
            icon={kind.icon}
            title={q === "" ? `No ${kind.noun} yet` : "No matches"}
            {...(mayCreate ? { action: <NewButton kind={kind} /> } : {})}
          >
            {kind.empty}
          </EmptyState>
        )}
        {rows.length > 0 && (
          <>
            <p className="text-sm text-muted" role="status">
              {formatNumber(total)} total
            </p>
            <DataTable
              label={kind.title}
              columns={columnsOf(kind)}
              rows={rows}
              rowKey={(record) => String(record["id"])}
              total={total}
              onEnd={() => readOn(found)}
            />
          </>
        )}
        {rows.length > 0 && <HealthChecks kind={kind} />}
        {kind.slug === "skills" && <SkillImport />}
        <RequestSamples path={kind.path} />
      </div>
    </PageFrame>
  );
}
