import { Button } from "@gatehouse/web-kit/button.tsx";
import { SelectField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { portalApi } from "../portal-client.ts";
import { usePortalTexts } from "../translations.ts";

/** What people with this primary group have access to. */
function OpenToGroup({ groupId }: { readonly groupId: string }): ReactNode {
  const t = usePortalTexts();
  const open = useQuery({
    queryKey: ["open-to-group", groupId],
    async queryFn() {
      const query = { group_id: groupId, enabled_only: "true" } as const;
      const [{ models }, { servers }] = await Promise.all([
        portalApi.call("GET /v1/portal/models", { query }),
        portalApi.call("GET /v1/portal/servers", { query }),
      ]);
      return { models: models.map(({ name }) => name), servers: servers.map(({ name, display_name: shown }) => shown ?? name) };
    },
  });
  const listed = (names: readonly string[]) => (names.length === 0 ? t("nothingOpen") : names.join(", "));
  if (open.isPending) return <Skeleton label={t("loading")} lines={1} />;
  if (open.isError) return <ErrorState error={open.error} title={t("unreadable")} requestLabel={t("request")} />;
  return (
    <div role="status" className="grid gap-1 text-sm text-muted wrap-anywhere">
      <p>{t("primaryModels", { names: listed(open.data.models) })}</p>
      <p>{t("primaryServers", { names: listed(open.data.servers) })}</p>
    </div>
  );
}

/** A choice must be confirmed: keyboard users select each entry on their way through the list. */
export function PrimaryGroupPanel(): ReactNode {
  const t = usePortalTexts();
  const cache = useQueryClient();
  const groups = useQuery({ queryKey: ["groups"], queryFn: () => portalApi.call("GET /v1/portal/auth/groups") });
  const [shownGroup, setShownGroup] = useState<string | null>(null);
  const choose = useMutation({
    mutationFn: (id: string) => portalApi.call("PATCH /v1/portal/auth/primary-group", { body: { group_id: id } }),
    async onSuccess() {
      showToast(t("saved"));
      await cache.invalidateQueries();
    },
  });
  if (groups.isPending) return <Skeleton label={t("loading")} lines={2} />;
  if (groups.isError) return <ErrorState error={groups.error} title={t("unreadable")} requestLabel={t("request")} />;
  const { groups: all, primary_group_id: primary } = groups.data;
  const shown = all.find(({ id }) => id === shownGroup)?.id ?? primary ?? all[0]?.id;
  return (
    <Panel title={t("groups")}>
      {shown === undefined ? (
        <p className="text-muted">{t("noGroups")}</p>
      ) : (
        <form
          className="grid max-w-sm gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            choose.mutate(shown);
          }}
        >
          <SelectField
            label={t("primaryGroup")}
            hint={t("primaryHint")}
            value={shown}
            onChange={({ target }) => setShownGroup(target.value)}
            choices={all.map(({ id, name, display_name }) => ({ value: id, label: display_name ?? name }))}
          />
          <OpenToGroup groupId={shown} />
          <FormError error={choose.error} />
          <div>
            <Button type="submit" look="primary" busy={choose.isPending}>
              {t("choosePrimary")}
            </Button>
          </div>
        </form>
      )}
    </Panel>
  );
}
