import { Button } from "@gatehouse/web-kit/button.tsx";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { SelectField, TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatMoment, formatRelative } from "@gatehouse/web-kit/formats.ts";
import { Badge, Facts, PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { nextPage } from "@gatehouse/web-kit/paged-list.ts";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { VisibleText } from "@gatehouse/web-kit/visible-text.tsx";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { CircleCheck } from "lucide-react";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import { Allowed } from "../records/allowed.tsx";
import { PRODUCT } from "../product.ts";

const STATES = ["pending", "approved", "rejected", "expired", "all"] as const;
type State = (typeof STATES)[number];

const PAGE_SIZE = 50;
const read = (status: State, page: number) => adminApi.call("GET /v1/admin/approvals", { query: { status, page, page_size: PAGE_SIZE } });
type Approval = Awaited<ReturnType<typeof read>>["approvals"][number];

const REFRESH_MS = 5_000;

export function WaitingApprovalsPage(): ReactNode {
  const [status, setStatus] = useState<State>("pending");
  const found = useInfiniteQuery({
    queryKey: ["approvals", "list", status],
    queryFn: ({ pageParam }) => read(status, pageParam),
    initialPageParam: 1,
    getNextPageParam: nextPage,
    refetchInterval: REFRESH_MS,
  });
  const approvals = found.data?.pages.flatMap((page) => page.approvals) ?? [];
  return (
    <PageFrame
      product={PRODUCT}
      title="Approvals"
      lead="Calls waiting for a decision. Nobody can approve calls made with a key they created."
    >
      <div className="grid gap-4">
        <div className="max-w-60">
          <SelectField
            label="Show"
            value={status}
            choices={STATES.map((value) => ({ value, label: value }))}
            onChange={({ target }) => setStatus(target.value as State)}
          />
        </div>
        {found.isPending && <Skeleton label="Loading" />}
        {found.isError && <ErrorState error={found.error} title="The approvals could not be read" requestLabel="Request" />}
        {found.isSuccess && approvals.length === 0 && (
          <EmptyState icon={CircleCheck} title={status === "pending" ? "No pending approvals" : "None"}>
            A call of a tool, an agent or a model waits here where a policy asks for an approval.
          </EmptyState>
        )}
        {approvals.map((approval) => (
          <One key={approval.id} approval={approval} />
        ))}
        <MoreButton list={found} label="More" />
      </div>
    </PageFrame>
  );
}

function One({ approval }: { readonly approval: Approval }): ReactNode {
  const queries = useQueryClient();
  const [note, setNote] = useState("");
  const path = { id: approval.id };
  const body = note.trim() === "" ? {} : { note: note.trim() };
  const decide = useMutation({
    mutationFn: (isApproved: boolean) =>
      isApproved
        ? adminApi.call("POST /v1/admin/approvals/{id}/approve", { path, body })
        : adminApi.call("POST /v1/admin/approvals/{id}/reject", { path, body }),
    async onSuccess(_answer, isApproved) {
      await queries.invalidateQueries({ queryKey: ["approvals"] });
      showToast(isApproved ? "Approved. The caller may make this very call once." : "Rejected.");
    },
  });
  return (
    <Panel
      title={`${approval.capability_name} on ${approval.server_name}`}
      actions={<Badge tone={approval.status === "pending" ? "warn" : "neutral"}>{approval.status}</Badge>}
    >
      <div className="grid gap-4">
        <Facts
          items={[
            ["Asked by", approval.requester_display],
            ["Asked", formatRelative(approval.created_at)],
            approval.resolved_at === null
              ? (["Ends", formatRelative(approval.expires_at)] as const)
              : ([
                  "Decided",
                  `${formatMoment(approval.resolved_at)}${approval.resolved_by === null ? "" : ` by ${approval.resolved_by}`}`,
                ] as const),
            ...(approval.resolution_note === null ? [] : [["Note", approval.resolution_note] as const]),
          ]}
        />
        <div className="grid gap-1">
          <h3 className="text-sm font-medium">Arguments</h3>
          <pre tabIndex={0} aria-label="Arguments" className="max-h-72 overflow-auto rounded-lg bg-sunken p-3 text-xs whitespace-pre-wrap">
            <VisibleText text={approval.call_arguments_text} />
          </pre>
        </div>
        {approval.status === "pending" && (
          <Allowed operation="POST /v1/admin/approvals/{id}/approve">
            <div className="grid max-w-xl gap-3">
              <TextField
                label="Note (stored with the decision)"
                value={note}
                maxLength={1000}
                onChange={({ target }) => setNote(target.value)}
              />
              <FormError error={decide.error} />
              <div className="flex gap-2">
                <Button look="primary" busy={decide.isPending} onClick={() => decide.mutate(true)}>
                  Approve
                </Button>
                <Button busy={decide.isPending} onClick={() => decide.mutate(false)}>
                  Reject
                </Button>
              </div>
            </div>
          </Allowed>
        )}
      </div>
    </Panel>
  );
}
