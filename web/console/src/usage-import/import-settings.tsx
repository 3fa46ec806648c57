import { fieldMessageOf } from "@gatehouse/web-kit/api-error.ts";
import { Button } from "@gatehouse/web-kit/button.tsx";
import { CheckboxField, SelectField, TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { Panel } from "@gatehouse/web-kit/page.tsx";
import { tell } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";

type Provider = AdminApiSchemas["UsageImportProvider"];
const MODES = [
  { value: "auto_create", label: "enter it in the registry of assets" },
  { value: "match_only", label: "only list it as unmatched" },
] as const;

/** The import of one provider: when it runs, from when on, and with which key of the account. */
export function ImportSettings({ provider }: { readonly provider: Provider }): ReactNode {
  const queries = useQueryClient();
  const [enabled, setEnabled] = useState(provider.import_enabled);
  const [cron, setCron] = useState(provider.import_schedule_cron);
  const [mode, setMode] = useState(provider.import_mapping_policy.mode);
  const [through, setThrough] = useState(provider.import_backfill_through ?? "");
  const [account, setAccount] = useState(provider.import_account ?? "");
  const [apiKey, setApiKey] = useState("");
  const path = { id: provider.id };
  const renew = () => queries.invalidateQueries({ queryKey: ["usage-import"] });
  const save = useMutation({
    mutationFn: () =>
      adminApi.call("PATCH /v1/admin/usage-import/providers/{id}", {
        path,
        body: {
          import_enabled: enabled,
          import_schedule_cron: cron,
          import_mapping_policy: { mode },
          import_backfill_through: through === "" ? null : through,
          import_account: account.trim() === "" ? null : account.trim(),
          ...(apiKey === "" ? {} : { api_key: apiKey }),
        },
      }),
    async onSuccess() {
      setApiKey("");
      await renew();
      tell("Saved.");
    },
  });
  const test = useMutation({
    mutationFn: () => adminApi.call("POST /v1/admin/usage-import/providers/{id}/test", { path }),
    onSuccess: ({ detail }) => tell(detail),
  });
  const run = useMutation({
    mutationFn: () => adminApi.call("POST /v1/admin/usage-import/providers/{id}/run", { path }),
    async onSuccess() {
      await renew();
      tell("The import runs.");
    },
  });
  return (
    <Panel
      title={`Import from ${provider.name}`}
      actions={
        <>
          <Button busy={test.isPending} disabled={!provider.has_api_key} onClick={() => test.mutate()}>
            Test
          </Button>
          <Button busy={run.isPending} disabled={!provider.has_api_key} onClick={() => run.mutate()}>
            Run now
          </Button>
        </>
      }
    >
      <form
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <CheckboxField label="Import by schedule" checked={enabled} onChange={({ currentTarget }) => setEnabled(currentTarget.checked)} />
        <div className="grid gap-3 sm:grid-cols-2">
          <TextField
            label="Schedule (cron, UTC)"
            value={cron}
            maxLength={100}
            error={fieldMessageOf(save.error, "import_schedule_cron")}
            onChange={({ target }) => setCron(target.value)}
          />
          <TextField label="Everything was read before" type="date" value={through} onChange={({ target }) => setThrough(target.value)} />
          <SelectField
            label="A model that is not known here"
            value={mode}
            choices={MODES}
            onChange={({ target }) => setMode(target.value as typeof mode)}
          />
          <TextField label="Account (table or scope)" value={account} maxLength={500} onChange={({ target }) => setAccount(target.value)} />
          <TextField
            label={provider.has_api_key ? `Key of the account (…${provider.api_key_hint ?? ""} is stored)` : "Key of the account"}
            type="password"
            autoComplete="off"
            value={apiKey}
            onChange={({ target }) => setApiKey(target.value)}
          />
        </div>
        <FormError error={save.error ?? test.error ?? run.error} atFields={["import_schedule_cron"]} />
        <div>
          <Button type="submit" look="primary" busy={save.isPending}>
            Save
          </Button>
        </div>
      </form>
    </Panel>
  );
}
