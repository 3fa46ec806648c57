import { Button } from "@gatehouse/web-kit/button.tsx";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatDate, formatRelative } from "@gatehouse/web-kit/formats.ts";
import { Badge, PageFrame } from "@gatehouse/web-kit/page.tsx";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Bell } from "lucide-react";
import type { ReactNode } from "react";
import { portalApi } from "../portal-client.ts";
import { notificationText } from "../notification-texts.ts";
import { usePortalTexts } from "../translations.ts";

const PAGE_SIZE = 50;

export function NotificationsPage(): ReactNode {
  const t = usePortalTexts();
  const cache = useQueryClient();
  const list = useInfiniteQuery({
    queryKey: ["notifications", "list"],
    queryFn: ({ pageParam }) => portalApi.call("GET /v1/portal/notifications", { query: { page: pageParam, page_size: PAGE_SIZE } }),
    initialPageParam: 1,
    getNextPageParam: (last) => (last.page * last.page_size < last.total ? last.page + 1 : undefined),
  });
  const renew = () => cache.invalidateQueries({ queryKey: ["notifications"] });
  const read = useMutation({
    mutationFn: (id: string) => portalApi.call("POST /v1/portal/notifications/{id}/read", { path: { id } }),
    onSuccess: renew,
  });
  const readAll = useMutation({ mutationFn: () => portalApi.call("POST /v1/portal/notifications/mark-all-read"), onSuccess: renew });
  const all = list.data?.pages.flatMap((page) => page.notifications) ?? [];
  return (
    <PageFrame
      product={t("product")}
      title={t("navNotifications")}
      lead={t("notificationsLead")}
      width="reading"
      actions={
        all.some(({ is_read }) => !is_read) && (
          <Button busy={readAll.isPending} onClick={() => readAll.mutate()}>
            {t("markAllRead")}
          </Button>
        )
      }
    >
      {list.isPending && <Skeleton label={t("loading")} />}
      {list.isError && (
        <ErrorState
          error={list.error}
          title={t("unreadable")}
          requestLabel={t("request")}
          retry={{ label: t("tryAgain"), run: () => void list.refetch() }}
        />
      )}
      {list.isSuccess && all.length === 0 && (
        <EmptyState icon={Bell} title={t("noNotificationsTitle")}>
          {t("noNotifications")}
        </EmptyState>
      )}
      <FormError error={read.error ?? readAll.error} />
      <ul className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-surface empty:hidden">
        {all.map((notification) => {
          const { id, is_read, created_at } = notification;
          const { title, body } = notificationText(t, notification);
          return (
            <li key={id} className="grid gap-1 p-4">
              <div className="flex flex-wrap items-center gap-2">
                <h2 className="font-medium">{title}</h2>
                {!is_read && <Badge tone="accent">{t("unread")}</Badge>}
                <time dateTime={created_at} title={formatDate(created_at)} className="ml-auto text-sm text-muted">
                  {formatRelative(created_at)}
                </time>
              </div>
              <p dir="auto">{body}</p>
              {!is_read && (
                <div>
                  <Button look="quiet" className="!px-0 !text-accent" onClick={() => read.mutate(id)}>
                    {t("markRead")}
                  </Button>
                </div>
              )}
            </li>
          );
        })}
      </ul>
      <div className="mt-4 empty:hidden">
        <MoreButton list={list} label={t("more")} />
      </div>
    </PageFrame>
  );
}
