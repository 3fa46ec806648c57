import { fieldMessageOf } from "@gatehouse/web-kit/api-error.ts";
import { Button } from "@gatehouse/web-kit/button.tsx";
import { CopyButton } from "@gatehouse/web-kit/copy-button.tsx";
import { ConfirmDialog } from "@gatehouse/web-kit/dialog.tsx";
import { SelectField, TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatDate } from "@gatehouse/web-kit/formats.ts";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, type SubmitEvent, useRef, useState } from "react";
import type { OwnApiKey } from "../api/portal-records.ts";
import { portalApi } from "../portal-client.ts";
import { usePortalTexts } from "../translations.ts";

const KEY = ["own-keys"];
const LIFETIMES = [30, 90, 365];
const DAY_MS = 86_400_000;

/** The person's own API keys. Renders nothing if the tenant does not allow personal keys and there are none. */
export function OwnKeysPanel(): ReactNode {
  const t = usePortalTexts();
  const keys = useQuery({ queryKey: KEY, queryFn: () => portalApi.call("GET /v1/portal/api-keys") });
  const [made, setMade] = useState<string | null>(null);
  if (keys.isPending) return <Skeleton label={t("loading")} lines={2} />;
  if (keys.isError) return <ErrorState error={keys.error} title={t("unreadable")} requestLabel={t("request")} />;
  const { api_keys: all, may_create: mayCreate } = keys.data;
  if (!mayCreate && all.length === 0) return null;
  const address = `${location.origin}/v1/proxy/llm`;
  return (
    <Panel title={t("ownKeys")}>
      <div className="grid gap-4">
        <p className="text-muted">{t("ownKeysLead")}</p>
        <p className="flex flex-wrap items-center gap-1 text-sm">
          {t("useInClient")}: <code className="min-w-0 font-mono break-all">{address}</code>
          <CopyButton text={address} label={t("copy")} doneLabel={t("copied")} />
        </p>
        {made !== null && (
          <div role="status" className="grid gap-2 rounded-xl border border-line bg-warn-soft p-4">
            <p className="font-semibold text-warn">{t("keyShownOnce")}</p>
            <p className="flex flex-wrap items-center gap-2">
              <code className="min-w-0 rounded bg-surface px-2 py-1 text-sm break-all">{made}</code>
              <CopyButton text={made} label={t("copy")} doneLabel={t("copied")} />
            </p>
          </div>
        )}
        <ul className="grid gap-2">
          {all.map((key) => (
            <OneKey key={key.id} apiKey={key} />
          ))}
        </ul>
        {mayCreate ? <MakeKey onMade={setMade} /> : <p className="text-sm text-muted">{t("ownKeysOff")}</p>}
      </div>
    </Panel>
  );
}

function OneKey({ apiKey }: { readonly apiKey: OwnApiKey }): ReactNode {
  const t = usePortalTexts();
  const cache = useQueryClient();
  const [isConfirming, setConfirming] = useState(false);
  const revoke = useMutation({
    mutationFn: () => portalApi.call("DELETE /v1/portal/api-keys/{key_id}", { path: { key_id: apiKey.id } }),
    async onSuccess() {
      setConfirming(false);
      showToast(t("keyRevoked"));
      await cache.invalidateQueries({ queryKey: KEY });
    },
  });
  const { name, status, key_hint: hint, expires_at: ends, last_used_at: used } = apiKey;
  const states = { active: t("keyActive"), revoked: t("keyRevokedState"), expired: t("statusExpired") };
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-lg border border-line p-3">
      <span dir="auto" className="min-w-0 font-medium break-words">
        {name}
      </span>
      <code className="font-mono text-sm text-muted">…{hint}</code>
      <Badge tone={status === "active" ? "good" : "neutral"}>{states[status]}</Badge>
      <span className="text-sm text-muted">
        {used === null ? t("keyUnused") : t("keyUsed", { when: formatDate(used) })}
        {ends !== null && ` · ${t("keyUntil", { when: formatDate(ends) })}`}
      </span>
      {status === "active" && (
        <Button className="ml-auto" aria-label={t("revokeNamed", { name })} onClick={() => setConfirming(true)}>
          {t("revoke")}
        </Button>
      )}
      <ConfirmDialog
        open={isConfirming}
        onClose={() => setConfirming(false)}
        title={t("revokeNamed", { name })}
        description={t("revokeLead")}
        closeLabel={t("cancel")}
        confirmLabel={t("revoke")}
        busy={revoke.isPending}
        onConfirm={() => revoke.mutate()}
      >
        <FormError error={revoke.error} />
      </ConfirmDialog>
    </li>
  );
}

function MakeKey({ onMade }: { readonly onMade: (key: string) => void }): ReactNode {
  const t = usePortalTexts();
  const cache = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const make = useMutation({
    mutationFn: ({ name, days }: { name: string; days: number }) =>
      portalApi.call("POST /v1/portal/api-keys", {
        body: { name, ...(days === 0 ? {} : { expires_at: new Date(Date.now() + days * DAY_MS).toISOString() }) },
      }),
    async onSuccess({ key }) {
      form.current?.reset();
      onMade(key);
      await cache.invalidateQueries({ queryKey: KEY });
    },
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    make.mutate({ name: String(given.get("name")).trim(), days: Number(given.get("days")) });
  };
  return (
    <form ref={form} className="grid max-w-sm gap-4" onSubmit={submit}>
      <TextField label={t("keyName")} name="name" required maxLength={200} error={fieldMessageOf(make.error, "name")} />
      <SelectField
        label={t("keyLifetime")}
        name="days"
        defaultValue={String(LIFETIMES[1])}
        choices={[
          ...LIFETIMES.map((days) => ({ value: String(days), label: t("days", { count: days }) })),
          { value: "0", label: t("noEnd") },
        ]}
      />
      <FormError error={make.error} atFields={["name"]} />
      <div>
        <Button type="submit" look="primary" busy={make.isPending}>
          {t("makeKey")}
        </Button>
      </div>
    </form>
  );
}
