import { Button } from "@gatehouse/web-kit/button.tsx";
import { ConfirmDialog } from "@gatehouse/web-kit/dialog.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { Facts, Panel } from "@gatehouse/web-kit/page.tsx";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { type ApiDocument, bodySchema, memberLabel } from "./api-schema.ts";
import { RecordForm } from "./record-form.tsx";
import type { RecordAction, RecordKind } from "./record-kind.ts";
import { type ApiRecord, askRecords, recordsKey } from "./records-client.ts";
import { RecordValue } from "./record-value.tsx";
import { ShownOnce } from "./shown-once.tsx";

/** An action on a record: its form, and its result. */
export function ActionPanel({
  document,
  kind,
  id,
  action,
  refusal,
}: {
  readonly document: ApiDocument;
  readonly kind: RecordKind;
  readonly id: string;
  readonly action: RecordAction;
  /** Why it would be refused; null if it would not. */
  readonly refusal: string | null;
}): ReactNode {
  const queries = useQueryClient();
  const schema = bodySchema(document, "POST", `${kind.path}/{id}${action.path}`);
  const actionMutation = useMutation({
    mutationFn: (body: unknown) => askRecords("POST", `${kind.path}/${encodeURIComponent(id)}${action.path}`, body),
    onSuccess: () => (action.isTest === true ? undefined : queries.invalidateQueries({ queryKey: recordsKey(kind) })),
  });
  const [held, setHeld] = useState<{ readonly body: unknown } | null>(null);
  const run = (body: unknown) => (action.asks === undefined ? actionMutation.mutate(body) : setHeld({ body }));
  if (refusal !== null)
    return (
      <Panel title={action.label}>
        <p className="text-muted">{refusal}</p>
      </Panel>
    );
  const takesSomething = schema !== null && Object.keys(schema.properties ?? {}).length > 0;
  return (
    <Panel title={action.label}>
      <div className="grid gap-4">
        <p className="text-muted">{action.hint}</p>
        {takesSomething ? (
          <RecordForm
            document={document}
            schema={schema}
            references={kind.references ?? {}}
            initial={{}}
            submitLabel={action.label}
            busy={actionMutation.isPending}
            error={actionMutation.error}
            onSubmit={run}
          />
        ) : (
          <>
            <FormError error={actionMutation.error} />
            <div>
              <Button busy={actionMutation.isPending} onClick={() => run(schema === null ? undefined : {})}>
                {action.label}
              </Button>
            </div>
          </>
        )}
        {action.asks !== undefined && (
          <ConfirmDialog
            open={held !== null}
            onClose={() => setHeld(null)}
            title={action.asks.title}
            description={action.asks.description}
            closeLabel="Cancel"
            confirmLabel={action.label}
            onConfirm={() => {
              setHeld(null);
              actionMutation.mutate(held?.body);
            }}
          />
        )}
        {actionMutation.isSuccess && <ShownOnce answer={actionMutation.data} members={action.shows ?? []} />}
        {actionMutation.isSuccess && action.shows === undefined && (
          <div role="status">
            <AnswerFacts kind={kind} answer={actionMutation.data} />
          </div>
        )}
      </div>
    </Panel>
  );
}

const HIDDEN_MEMBERS = /^(?:id|tenant_id|created_at)$/;

/** An answer as names and values; nested objects become lists of their own. */
export function AnswerFacts({ kind, answer }: { readonly kind: RecordKind; readonly answer: ApiRecord }): ReactNode {
  return (
    <Facts
      items={Object.entries(answer)
        .filter(([member]) => !HIDDEN_MEMBERS.test(member))
        .map(([member, value]) => [memberLabel(member), <MemberValue key={member} kind={kind} member={member} value={value} />] as const)}
    />
  );
}

function MemberValue({ kind, member, value }: { readonly kind: RecordKind; readonly member: string; readonly value: unknown }): ReactNode {
  const objects = (Array.isArray(value) ? value : [value]).filter((one): one is ApiRecord => typeof one === "object" && one !== null);
  if (objects.length === 0 || (Array.isArray(value) && objects.length < value.length))
    return <RecordValue kind={kind} member={member} value={value} />;
  return objects.map((one, at) => (
    <div key={at} className="mb-2 rounded-lg border border-line p-3">
      <AnswerFacts kind={kind} answer={one} />
    </div>
  ));
}
