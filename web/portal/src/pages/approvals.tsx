import { Button } from "@gatehouse/web-kit/button.tsx";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatDate, formatRelative } from "@gatehouse/web-kit/formats.ts";
import { Badge, Panel, PageFrame } from "@gatehouse/web-kit/page.tsx";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { clsx } from "clsx";
import { ShieldCheck } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { PortalApproval } from "../api/portal-records.ts";
import { portalApi } from "../portal-client.ts";
import { CallArguments } from "../tools/call-arguments.tsx";
import { usePortalTexts } from "../translations.ts";

const PAGE_SIZE = 50;

function ApprovalCard({ approval }: { readonly approval: PortalApproval }): ReactNode {
  const t = usePortalTexts();
  const cache = useQueryClient();
  const [note, setNote] = useState("");
  const decide = useMutation({
    mutationFn: (way: "approve" | "reject") =>
      portalApi.call(`POST /v1/portal/approvals/{id}/${way}`, {
        path: { id: approval.id },
        body: note.trim() === "" ? {} : { note: note.trim() },
      }),
    async onSuccess(_answer, way) {
      showToast(way === "approve" ? t("approved") : t("rejected"));
      await cache.invalidateQueries({ queryKey: ["approvals"] });
    },
  });
  const state = {
    pending: <Badge tone="warn">{t("statusPending")}</Badge>,
    approved: <Badge tone="good">{t("statusApproved")}</Badge>,
    rejected: <Badge tone="bad">{t("statusRejected")}</Badge>,
    expired: <Badge>{t("statusExpired")}</Badge>,
  }[approval.status];
  const decidable = approval.status === "pending" && approval.may_resolve;
  return (
    <li>
      <Panel
        title={t("asks", { who: approval.requester_display, what: approval.capability_name, server: approval.server_name })}
        actions={state}
      >
        <div className="grid gap-4">
          {approval.status === "pending" && <p>{decidable && approval.may_approve ? t("willHappen") : t("somebodyElseDecides")}</p>}
          <div className="grid gap-1">
            <h3 className="text-sm font-medium text-muted">{t("arguments")}</h3>
            <CallArguments text={approval.call_arguments_text} />
          </div>
          {approval.status === "pending" && (
            <p className="text-sm text-muted">
              {t("deadline")}: <time dateTime={approval.expires_at}>{formatRelative(approval.expires_at)}</time>
            </p>
          )}
          {decidable && (
            <form className="grid gap-3" onSubmit={(event) => event.preventDefault()}>
              <TextField
                label={t("note")}
                hint={t("noteHint")}
                value={note}
                maxLength={4000}
                onChange={(event) => setNote(event.target.value)}
              />
              <FormError error={decide.error} />
              <div className="grid grid-cols-2 gap-2 sm:flex">
                {approval.may_approve && (
                  <Button look="primary" busy={decide.isPending} onClick={() => decide.mutate("approve")}>
                    {t("approve")}
                  </Button>
                )}
                <Button busy={decide.isPending} onClick={() => decide.mutate("reject")}>
                  {t("reject")}
                </Button>
              </div>
            </form>
          )}
          {approval.status !== "pending" && (
            <p className="text-sm text-muted">
              {approval.resolved_by !== null && t("by", { name: approval.resolved_by })}{" "}
              {approval.resolved_at !== null && formatDate(approval.resolved_at)} {approval.resolution_note}
            </p>
          )}
        </div>
      </Panel>
    </li>
  );
}

export function ApprovalsPage(): ReactNode {
  const t = usePortalTexts();
  const { status } = useSearch({ strict: false }) as { status?: string };
  const shown = status === "all" ? "all" : "pending";
  const list = useInfiniteQuery({
    queryKey: ["approvals", "list", shown],
    queryFn: ({ pageParam }) =>
      portalApi.call("GET /v1/portal/approvals", { query: { status: shown, page: pageParam, page_size: PAGE_SIZE } }),
    initialPageParam: 1,
    getNextPageParam: (last) => (last.page * last.page_size < last.total ? last.page + 1 : undefined),
  });
  const approvals = list.data?.pages.flatMap((page) => page.approvals) ?? [];
  const tab = (to: string, label: string) => (
    <Link
      to="/approvals"
      search={{ status: to }}
      aria-current={shown === to ? "page" : undefined}
      className={clsx(
        "inline-flex min-h-9 items-center rounded-lg px-3 text-sm font-medium",
        shown === to ? "bg-accent-soft text-accent-strong" : "hover:bg-sunken",
      )}
    >
      {label}
    </Link>
  );
  return (
    <PageFrame
      product={t("product")}
      title={t("navApprovals")}
      lead={t("approvalsLead")}
      width="reading"
      actions={
        <>
          {tab("pending", t("waiting"))}
          {tab("all", t("allApprovals"))}
        </>
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
      {list.isSuccess && approvals.length === 0 && (
        <EmptyState icon={ShieldCheck} title={t("noApprovalsTitle")}>
          {t("noApprovals")}
        </EmptyState>
      )}
      <ul className="grid gap-4">
        {approvals.map((approval) => (
          <ApprovalCard key={approval.id} approval={approval} />
        ))}
      </ul>
      <div className="mt-4 empty:hidden">
        <MoreButton list={list} label={t("more")} />
      </div>
    </PageFrame>
  );
}
