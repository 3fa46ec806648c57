import { buttonClass } from "@gatehouse/web-kit/button.tsx";
import { PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useLocation, useNavigate, useParams } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { ConsoleNotFound } from "../console-frame.tsx";
import { PRODUCT } from "../product.ts";
import { type ApiDocument, type ApiSchema, bodySchema, isAllowed } from "../records/api-schema.ts";
import { AnswerFacts } from "../records/action-panel.tsx";
import { useConsoleUser } from "../records/allowed.tsx";
import { RecordForm } from "../records/record-form.tsx";
import type { RecordKind } from "../records/record-kind.ts";
import { recordKind } from "../records/record-kinds.ts";
import { hasPermission } from "../records/refusals.ts";
import { type ApiRecord, askRecords, documentQuery, shownName, recordsKey } from "../records/records-client.ts";
import { ShownOnce } from "../records/shown-once.tsx";

export function NewRecordPage(): ReactNode {
  const { kind: slug } = useParams({ strict: false });
  const kind = recordKind(slug);
  const api = useQuery(documentQuery);
  const user = useConsoleUser();
  if (kind === undefined) return <ConsoleNotFound />;
  const mayCreate = api.isSuccess && isAllowed(api.data, "POST", kind.createPath ?? kind.path, user);
  return (
    <PageFrame product={PRODUCT} title={`New ${kind.noun}`} lead={kind.empty} width="reading">
      {api.isPending && <Skeleton label="Loading" lines={6} />}
      {api.isError && <ErrorState error={api.error} title="The form could not be read" requestLabel="Request" />}
      {api.isSuccess && !mayCreate && <p className="text-muted">Your role cannot create this.</p>}
      {mayCreate && <NewRecord document={api.data} kind={kind} user={user} />}
    </PageFrame>
  );
}

/** The schema of a creation request, without members that the user may not give; a member that goes into the path comes first. */
function creationSchema(
  document: ApiDocument,
  kind: RecordKind,
  user: Readonly<Record<string, unknown>>,
): { readonly schema: ApiSchema; readonly inPath: string | undefined } {
  const path = kind.createPath ?? kind.path;
  const inPath = /\{(\w+)\}/.exec(path)?.[1];
  const { properties = {}, ...rest } = bodySchema(document, "POST", path) ?? {};
  const mayGive = ([member]: [string, unknown]) => {
    const needed = kind.memberPermissions?.[member];
    return (needed === undefined || hasPermission(user, needed)) && kind.choiceRefusal?.(member, null, user, undefined) !== true;
  };
  const schema = { ...rest, properties: Object.fromEntries(Object.entries(properties).filter(mayGive)) };
  if (inPath === undefined) return { schema, inPath };
  return {
    inPath,
    schema: {
      ...schema,
      properties: { [inPath]: { type: "string" }, ...schema.properties },
      required: [inPath, ...(schema.required ?? [])],
    },
  };
}

function NewRecord({
  document,
  kind,
  user,
}: {
  readonly document: ApiDocument;
  readonly kind: RecordKind;
  readonly user: Readonly<Record<string, unknown>>;
}): ReactNode {
  const queries = useQueryClient();
  const go = useNavigate();
  const [made, setMade] = useState<ApiRecord | null>(null);
  const { schema, inPath } = creationSchema(document, kind, user);
  // Values passed on by the page that linked here.
  const { prefill = {} } = useLocation().state as { prefill?: ApiRecord };
  const create = useMutation({
    mutationFn: (value: ApiRecord) => {
      if (inPath === undefined) return askRecords("POST", kind.path, value);
      const { [inPath]: id, ...body } = value;
      return askRecords("POST", (kind.createPath ?? "").replace(`{${inPath}}`, encodeURIComponent(String(id ?? ""))), body);
    },
    async onSuccess(answer) {
      await queries.invalidateQueries({ queryKey: recordsKey(kind) });
      if ((kind.shows ?? []).some((member) => typeof answer[member] === "string")) return setMade(answer);
      // Some answers wrap the record.
      const record = (typeof answer["user"] === "object" && answer["user"] !== null ? answer["user"] : answer) as ApiRecord;
      showToast(`${shownName(kind, record)} was created.`);
      await go({ to: "/manage/$kind/$id", params: { kind: kind.slug, id: String(record["id"]) }, ignoreBlocker: true });
    },
  });
  const trialSchema = kind.trial === undefined ? null : bodySchema(document, "POST", kind.trial.path);
  const tried = useMutation({
    mutationFn: (value: ApiRecord) =>
      askRecords(
        "POST",
        kind.trial?.path ?? "",
        Object.fromEntries(Object.entries(value).filter(([member]) => member in (trialSchema?.properties ?? {}))),
      ),
  });
  const attempt = (value: ApiRecord) => {
    create.reset();
    tried.mutate(value);
  };
  if (made !== null)
    return (
      <div className="grid gap-4">
        <ShownOnce answer={made} members={kind.shows ?? []} />
        <div>
          <Link to="/manage/$kind/$id" params={{ kind: kind.slug, id: String(made["id"]) }} className={buttonClass("primary")}>
            I have it
          </Link>
        </div>
      </div>
    );
  return (
    <Panel>
      <RecordForm
        document={document}
        schema={schema}
        references={kind.references ?? {}}
        initial={prefill}
        first={kind.first}
        onlyWith={kind.onlyWith ?? {}}
        isRefused={(member, choice) => kind.choiceRefusal?.(member, choice, user, undefined) === true}
        submitLabel={`Create ${kind.noun}`}
        busy={create.isPending}
        error={create.error ?? tried.error}
        onSubmit={(value) => {
          tried.reset();
          create.mutate(value);
        }}
        asksToLeave
        {...(kind.trial === undefined || trialSchema === null
          ? {}
          : { trial: { label: kind.trial.label, busy: tried.isPending, run: attempt } })}
      />
      {tried.isSuccess && (
        <div role="status" className="mt-4">
          <AnswerFacts kind={kind} answer={tried.data} />
        </div>
      )}
    </Panel>
  );
}
