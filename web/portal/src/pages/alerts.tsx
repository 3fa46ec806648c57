import { Button } from "@gatehouse/web-kit/button.tsx";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatDate } from "@gatehouse/web-kit/formats.ts";
import { Badge, Panel, PageFrame } from "@gatehouse/web-kit/page.tsx";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Gauge } from "lucide-react";
import { type ReactNode, useRef } from "react";
import type { ShownAlert } from "../api/portal-records.ts";
import { portalApi } from "../portal-client.ts";
import { alertText } from "../notification-texts.ts";
import { usePortalTexts } from "../translations.ts";
import { GroupUsage } from "../usage/group-usage.tsx";

const PAGE_SIZE = 50;

function AlertCard({ alert }: { readonly alert: ShownAlert }): ReactNode {
  const t = usePortalTexts();
  const cache = useQueryClient();
  const card = useRef<HTMLLIElement>(null);
  const acknowledge = useMutation({
    mutationFn: () => portalApi.call("POST /v1/portal/alerts/{alert_id}/acknowledge", { path: { alert_id: alert.id } }),
    async onSuccess() {
      showToast(t("acknowledged"));
      await cache.invalidateQueries({ queryKey: ["alerts"] });
      // The pressed button is gone, so the focus moves to the card.
      card.current?.focus();
    },
  });
  const { title, body } = alertText(t, alert);
  return (
    <li ref={card} tabIndex={-1}>
      <Panel
        title={title}
        actions={
          alert.resolved ? (
            <Badge>{t("resolved")}</Badge>
          ) : (
            <Badge tone={alert.severity === "critical" ? "bad" : "warn"}>
              {t(alert.severity === "critical" ? "severityCritical" : "severityWarning")}
            </Badge>
          )
        }
      >
        <div className="grid gap-3">
          <p>{body}</p>
          <div className="flex flex-wrap items-center justify-between gap-2">
            <time dateTime={alert.created_at} className="text-sm text-muted">
              {formatDate(alert.created_at)}
            </time>
            {alert.acknowledged_at !== null ? (
              <span className="text-sm text-muted">{t("acknowledgedOn", { when: formatDate(alert.acknowledged_at) })}</span>
            ) : (
              !alert.resolved && (
                <Button busy={acknowledge.isPending} onClick={() => acknowledge.mutate()}>
                  {t("acknowledge")}
                </Button>
              )
            )}
          </div>
          <FormError error={acknowledge.error} />
        </div>
      </Panel>
    </li>
  );
}

export function AlertsPage(): ReactNode {
  const t = usePortalTexts();
  const list = useInfiniteQuery({
    queryKey: ["alerts"],
    queryFn: ({ pageParam }) => portalApi.call("GET /v1/portal/alerts", { query: { page: pageParam, page_size: PAGE_SIZE } }),
    initialPageParam: 1,
    getNextPageParam: (last) => (last.page * last.page_size < last.total ? last.page + 1 : undefined),
  });
  const alerts = list.data?.pages.flatMap((page) => page.alerts) ?? [];
  return (
    <PageFrame product={t("product")} title={t("navAlerts")} lead={t("alertsLead")} width="reading">
      <div className="mb-8">
        <GroupUsage />
      </div>
      <h2 className="mb-4 text-lg font-semibold">{t("alertsTitle")}</h2>
      {list.isPending && <Skeleton label={t("loading")} />}
      {list.isError && (
        <ErrorState
          error={list.error}
          title={t("unreadable")}
          requestLabel={t("request")}
          retry={{ label: t("tryAgain"), run: () => void list.refetch() }}
        />
      )}
      {list.isSuccess && alerts.length === 0 && (
        <EmptyState icon={Gauge} title={t("noAlertsTitle")}>
          {t("noAlerts")}
        </EmptyState>
      )}
      <ul className="grid gap-4">
        {alerts.map((alert) => (
          <AlertCard key={alert.id} alert={alert} />
        ))}
      </ul>
      <div className="mt-4 empty:hidden">
        <MoreButton list={list} label={t("more")} />
      </div>
    </PageFrame>
  );
}
