import { fieldMessageOf } from "@gatehouse/web-kit/api-error.ts";
import { Button } from "@gatehouse/web-kit/button.tsx";
import { CheckboxField, SelectField, TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { Panel } from "@gatehouse/web-kit/page.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";

type Provider = AdminApiSchemas["UsageImportProvider"];
const MODES = [
  { value: "auto_create", label: "enter it in the registry of assets" },
  { value: "match_only", label: "only list it as unmatched" },
] as const;

const settingsOf = (provider: Provider) => ({
  import_enabled: provider.import_enabled,
  import_schedule_cron: provider.import_schedule_cron,
  mode: provider.import_mapping_policy.mode,
  import_backfill_through: provider.import_backfill_through ?? "",
  import_account: provider.import_account ?? "",
});
type Settings = ReturnType<typeof settingsOf>;

/** The request body with only the changed settings. */
function changesOf(now: Settings, before: Settings) {
  const isOther = (member: keyof Settings) => now[member] !== before[member];
  return {
    ...(isOther("import_enabled") ? { import_enabled: now.import_enabled } : {}),
    ...(isOther("import_schedule_cron") ? { import_schedule_cron: now.import_schedule_cron } : {}),
    ...(isOther("mode") ? { import_mapping_policy: { mode: now.mode } } : {}),
    ...(isOther("import_backfill_through") ? { import_backfill_through: now.import_backfill_through || null } : {}),
    ...(isOther("import_account") ? { import_account: now.import_account.trim() || null } : {}),
  };
}

/** A provider's import settings: schedule, start date, and the account's key. */
export function ImportSettings({ provider }: { readonly provider: Provider }): ReactNode {
  const queries = useQueryClient();
  // Unchanged settings are not sent, because someone else may have changed them meanwhile.
  const [begun, setBegun] = useState(() => settingsOf(provider));
  const [settings, setSettings] = useState(begun);
  const change = (changes: Partial<Settings>) => setSettings({ ...settings, ...changes });
  const [apiKey, setApiKey] = useState("");
  const path = { id: provider.id };
  const renew = () => queries.invalidateQueries({ queryKey: ["usage-import"] });
  const save = useMutation({
    mutationFn: () =>
      adminApi.call("PATCH /v1/admin/usage-import/providers/{id}", {
        path,
        body: { ...changesOf(settings, begun), ...(apiKey === "" ? {} : { api_key: apiKey }) },
      }),
    async onSuccess(saved) {
      setApiKey("");
      setBegun(settingsOf(saved));
      setSettings(settingsOf(saved));
      await renew();
      showToast("Saved.");
    },
  });
  const test = useMutation({
    mutationFn: () => adminApi.call("POST /v1/admin/usage-import/providers/{id}/test", { path }),
    onSuccess: ({ detail }) => showToast(detail),
  });
  const run = useMutation({
    mutationFn: () => adminApi.call("POST /v1/admin/usage-import/providers/{id}/run", { path }),
    async onSuccess() {
      await renew();
      showToast("The import runs.");
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
        <CheckboxField
          label="Import by schedule"
          checked={settings.import_enabled}
          onChange={({ currentTarget }) => change({ import_enabled: currentTarget.checked })}
        />
        <div className="grid gap-3 sm:grid-cols-2">
          <TextField
            label="Schedule (cron, UTC)"
            value={settings.import_schedule_cron}
            maxLength={100}
            error={fieldMessageOf(save.error, "import_schedule_cron")}
            onChange={({ target }) => change({ import_schedule_cron: target.value })}
          />
          <TextField
            label="Everything was read before"
            type="date"
            value={settings.import_backfill_through}
            onChange={({ target }) => change({ import_backfill_through: target.value })}
          />
          <SelectField
            label="A model that is not known here"
            value={settings.mode}
            choices={MODES}
            onChange={({ target }) => change({ mode: target.value as Settings["mode"] })}
          />
          <TextField
            label="Account (table or scope)"
            value={settings.import_account}
            maxLength={500}
            onChange={({ target }) => change({ import_account: target.value })}
          />
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
