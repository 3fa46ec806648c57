import { Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { ChangedMeanwhile } from "../records/changed-meanwhile.tsx";
import { bodySchema } from "../records/api-schema.ts";
import { useAllowed } from "../records/allowed.tsx";
import { RecordForm } from "../records/record-form.tsx";
import { type ApiRecord, askRecords, ChangedByOthers, changeAsRead, changedSince, documentQuery } from "../records/records-client.ts";

const PATH = "/v1/admin/compliance/gdpr/statements";
const KEY = ["compliance", "statements"];

/** The parts of a record of processing that a gateway cannot know (GDPR, article 30(1)(a) to (c)), as the organization states them. */
export function ProcessingStatements(): ReactNode {
  const api = useQuery(documentQuery);
  const found = useQuery({ queryKey: KEY, queryFn: () => askRecords("GET", PATH) });
  const mayChange = useAllowed()(`PATCH ${PATH}`);
  const body = api.isSuccess ? bodySchema(api.data, "PATCH", PATH) : null;
  // A request must include each of them, but each may be null.
  const schema = body === null ? null : { ...body, required: [] };
  return (
    <Panel title="Record of processing: your statements">
      <div className="grid gap-4">
        <p className="text-muted">
          Article 30 of the GDPR asks for facts the gateway cannot know: who is responsible, why data is processed, and whose data it is.
          The report shows them as written here.
        </p>
        {(found.isPending || api.isPending) && <Skeleton label="Loading" lines={3} />}
        {found.isError && <ErrorState error={found.error} title="The statements could not be read" requestLabel="Request" />}
        {found.isSuccess && api.isSuccess && schema !== null && mayChange && <Statements now={found.data} api={api.data} schema={schema} />}
      </div>
    </Panel>
  );
}

function Statements({
  now,
  api,
  schema,
}: {
  readonly now: ApiRecord;
  readonly api: Parameters<typeof bodySchema>[0];
  readonly schema: NonNullable<ReturnType<typeof bodySchema>>;
}): ReactNode {
  const queries = useQueryClient();
  // The form keeps the values it started with, even if someone else changes them meanwhile.
  const [begun, setBegun] = useState(now);
  const [isEdited, setIsEdited] = useState(false);
  const isOlder = JSON.stringify(begun) !== JSON.stringify(now);
  if (isOlder && !isEdited) setBegun(now);
  const save = useMutation({
    mutationFn(value: ApiRecord) {
      const all = Object.fromEntries(Object.keys(schema.properties ?? {}).map((member) => [member, value[member] ?? null]));
      return changeAsRead(PATH, all, changedSince(begun, all));
    },
    onError(error) {
      if (error instanceof ChangedByOthers) queries.setQueryData(KEY, error.now);
    },
    async onSuccess(answer) {
      setIsEdited(false);
      queries.setQueryData(KEY, answer);
      await queries.invalidateQueries({ queryKey: ["compliance"] });
      showToast("Statements saved.");
    },
  });
  return (
    <>
      {isOlder && isEdited && (
        <ChangedMeanwhile
          onShow={() => {
            save.reset();
            setIsEdited(false);
          }}
        >
          Somebody else has changed these statements. What you edited cannot be saved over theirs.
        </ChangedMeanwhile>
      )}
      <RecordForm
        key={JSON.stringify(begun)}
        document={api}
        schema={schema}
        references={{}}
        initial={begun}
        first={Object.keys(schema.properties ?? {})}
        submitLabel="Save statements"
        busy={save.isPending}
        error={save.error}
        onSubmit={(value) => save.mutate(value)}
        asksToLeave
        onEdited={setIsEdited}
      />
    </>
  );
}
