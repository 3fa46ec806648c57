import { Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { bodySchema } from "../records/api-schema.ts";
import { RecordForm } from "../records/record-form.tsx";
import { type ApiRecord, askRecords, ChangedByOthers, changeAsRead, changedSince, documentQuery } from "../records/records-client.ts";

const PATH = "/v1/admin/discovery/settings";
const KEY = ["discovery", "settings"];

/** The gateway's own addresses; calls to any other address count as bypassing it. */
export function GatewayAddresses(): ReactNode {
  const queries = useQueryClient();
  const api = useQuery(documentQuery);
  const settings = useQuery({ queryKey: KEY, queryFn: () => askRecords("GET", PATH) });
  const change = useMutation({
    mutationFn: (value: ApiRecord) => changeAsRead(PATH, value, changedSince(settings.data ?? {}, value)),
    onError(error) {
      if (error instanceof ChangedByOthers) queries.setQueryData(KEY, error.now);
    },
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: ["discovery"] });
      showToast("Saved. What was found is looked at anew with the next reconciliation.");
    },
  });
  const schema = api.isSuccess ? bodySchema(api.data, "PATCH", PATH) : null;
  return (
    <Panel title="Gateway addresses">
      {settings.isPending && <Skeleton label="Loading" lines={2} />}
      {settings.isError && <ErrorState error={settings.error} title="The addresses could not be read" requestLabel="Request" />}
      {settings.isSuccess && api.isSuccess && schema !== null && (
        <RecordForm
          key={JSON.stringify(settings.data)}
          document={api.data}
          schema={schema}
          references={{}}
          initial={settings.data}
          submitLabel="Save"
          busy={change.isPending}
          error={change.error}
          onSubmit={(value) => change.mutate(value)}
          asksToLeave
        />
      )}
    </Panel>
  );
}
