import { Badge, Facts, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { type ApiDocument, type ApiSchema, bodySchema, hasOperation, memberLabel, resolvedSchema } from "./api-schema.ts";
import { ChangedMeanwhile } from "./changed-meanwhile.tsx";
import { PolicyPreviewView } from "./policy-preview.tsx";
import { RecordForm } from "./record-form.tsx";
import type { RecordDocument, RecordKind } from "./record-kind.ts";
import { type ApiRecord, askRecords, ChangedByOthers, changeAsRead, recordsKey } from "./records-client.ts";

type Members = Readonly<Record<string, unknown>>;
const membersOf = (value: unknown): Members =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : {};

/** Every leaf of a document with its path, such as "budget.daily_limit_usd". */
function leaves(value: Members, at = ""): [string, unknown][] {
  return Object.entries(value).flatMap(([name, inner]) => {
    const path = at === "" ? name : `${at}.${name}`;
    return typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? leaves(inner as Members, path)
      : [[path, inner] as [string, unknown]];
  });
}

const pathLabel = (path: string) => path.split(".").map(memberLabel).join(", ");

const holdsAll = (list: unknown, members: unknown) =>
  Array.isArray(list) && Array.isArray(members) && members.every((member) => list.includes(member));

/** A list with all own values and more was extended by an ancestor; any other differing value was narrowed. Order does not matter. */
function Origin({ own, value }: { readonly own: unknown; readonly value: unknown }): ReactNode {
  if (own === undefined) return <Badge>inherited</Badge>;
  const holdsOwn = holdsAll(value, own);
  if (JSON.stringify(own) === JSON.stringify(value) || (holdsOwn && holdsAll(own, value))) return <Badge tone="accent">set here</Badge>;
  return <Badge>{holdsOwn ? "set here, extended by a parent" : "narrowed by a parent"}</Badge>;
}

/** The effective values, and whether each is set here or inherited from an ancestor group. */
function Effective({ own, effective }: { readonly own: Members; readonly effective: Members }): ReactNode {
  const mine = new Map(leaves(own));
  const all = leaves(effective);
  if (all.length === 0) return <p className="text-muted">Nothing is set here or in a parent group.</p>;
  return (
    <Facts
      items={all.map(
        ([path, value]) =>
          [
            pathLabel(path),
            <span key={path} className="flex flex-wrap items-center gap-2">
              {typeof value === "object" ? JSON.stringify(value) : String(value)}
              <Origin own={mine.get(path)} value={value} />
            </span>,
          ] as const,
      )}
    />
  );
}

/** The document within a read's answer; if the document is the whole request body, its members. */
function ownOf(answer: ApiRecord | undefined, { member }: RecordDocument, schema: ApiSchema): Members {
  if (member !== null) return membersOf(answer?.["own"] ?? answer?.[member]);
  return Object.fromEntries(Object.entries(answer ?? {}).filter(([name, value]) => name in (schema.properties ?? {}) && value !== null));
}

/** The document's operation path in the API document. */
export const documentOperation = (kind: RecordKind, { path, operation = path }: RecordDocument): string => `${kind.path}/{id}${operation}`;

const isSame = (one: Members, other: Members) => JSON.stringify(one) === JSON.stringify(other);

export function DocumentPanel({
  document,
  kind,
  id,
  about,
  mayChange,
}: {
  readonly document: ApiDocument;
  readonly kind: RecordKind;
  readonly id: string;
  readonly about: RecordDocument;
  readonly mayChange: boolean;
}): ReactNode {
  const path = `${kind.path}/${encodeURIComponent(id)}${about.path}`;
  const queryKey = [...recordsKey(kind), "document", id, about.path];
  const read = useQuery({ queryKey, queryFn: () => askRecords("GET", path) });
  const body = bodySchema(document, about.method ?? "PATCH", documentOperation(kind, about));
  const given = about.member === null ? body : body?.properties?.[about.member];
  if (given == null) return null;
  const { schema } = resolvedSchema(document, given);
  const own = ownOf(read.data, about, schema);
  const effective = membersOf(Object.entries(read.data ?? {}).find(([name]) => name.startsWith("effective"))?.[1]);
  return (
    <Panel title={about.label}>
      {read.isPending && <Skeleton label="Loading" lines={2} />}
      {read.isError && <ErrorState error={read.error} title="This could not be read" requestLabel="Request" />}
      {read.isSuccess && (
        <div className="grid gap-4">
          <Effective own={own} effective={effective} />
          {mayChange && (
            <details>
              <summary className="min-h-6 cursor-pointer text-sm font-medium">Edit</summary>
              <div className="mt-4">
                <DocumentEditor document={document} schema={schema} kind={kind} about={about} path={path} queryKey={queryKey} own={own} />
              </div>
            </details>
          )}
        </div>
      )}
    </Panel>
  );
}

function DocumentEditor({
  document,
  schema,
  kind,
  about,
  path,
  queryKey,
  own,
}: {
  readonly document: ApiDocument;
  readonly schema: ApiSchema;
  readonly kind: RecordKind;
  readonly about: RecordDocument;
  readonly path: string;
  readonly queryKey: readonly unknown[];
  readonly own: Members;
}): ReactNode {
  const queries = useQueryClient();
  const bodyOf = (value: Members): ApiRecord => (about.member === null ? value : { [about.member]: value });
  // The form keeps the values it started with, even if someone else changes the document meanwhile.
  const [begun, setBegun] = useState(own);
  const [isEdited, setIsEdited] = useState(false);
  const isOlder = !isSame(begun, own);
  if (isOlder && !isEdited) setBegun(own);
  const changed = useMutation({
    // A save replaces the whole document, so it is checked against the version the form was built from.
    mutationFn: (value: Members) =>
      changeAsRead(path, bodyOf(value), (now) => (isSame(ownOf(now, about, schema), begun) ? null : "this"), about.method),
    onError(error) {
      if (error instanceof ChangedByOthers) queries.setQueryData(queryKey, error.now);
    },
    async onSuccess() {
      preview.reset();
      setIsEdited(false);
      await queries.invalidateQueries({ queryKey });
      showToast(`${about.label}: saved. Takes effect with the next call.`);
    },
  });
  const preview = useMutation({ mutationFn: (value: Members) => askRecords("POST", `${path}/preview`, bodyOf(value)) });
  const showNow = () => {
    changed.reset();
    preview.reset();
    setIsEdited(false);
  };
  const trial = {
    label: "Preview changes",
    busy: preview.isPending,
    run(value: Members) {
      changed.reset();
      preview.mutate(value);
    },
  };
  return (
    <>
      {isOlder && isEdited && (
        <ChangedMeanwhile onShow={showNow}>Someone else has changed this. Your edits cannot be saved over theirs.</ChangedMeanwhile>
      )}
      <RecordForm
        key={JSON.stringify(begun)}
        document={document}
        schema={schema}
        references={kind.references ?? {}}
        initial={begun}
        {...(about.member === null ? {} : { within: about.member })}
        submitLabel="Save"
        busy={changed.isPending}
        error={changed.error ?? preview.error}
        onSubmit={(value) => changed.mutate(value)}
        asksToLeave
        onEdited={setIsEdited}
        {...(hasOperation(document, "POST", `${documentOperation(kind, about)}/preview`) ? { trial } : {})}
      />
      {preview.isSuccess && (
        <div className="mt-4">
          <PolicyPreviewView preview={preview.data as never} />
        </div>
      )}
    </>
  );
}
