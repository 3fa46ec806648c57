import { Button } from "@gatehouse/web-kit/button.tsx";
import { TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatRelative } from "@gatehouse/web-kit/formats.ts";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { nextPage, readOn } from "@gatehouse/web-kit/paged-list.ts";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { adminApi } from "../admin-client.ts";
import { useAllowed } from "../records/allowed.tsx";

const ACTIONS = {
  require_approval: "asks before each action",
  block_tools: "no tools, skills or agents",
  restrict: "restricted",
  suspend: "suspended",
} as const;
const TONES = { active: "bad", refused: "warn", dry_run: "neutral", expired: "neutral", restored: "neutral" } as const;

/** Responses applied to the system; those in force can be undone here. */
export function RestorePanel({ id }: { readonly id: string }): ReactNode {
  const queries = useQueryClient();
  const [reason, setReason] = useState("");
  const mayRestore = useAllowed()("POST /v1/admin/ai-systems/{id}/restore");
  const found = useInfiniteQuery({
    queryKey: ["ai-system", id, "responses"],
    queryFn: ({ pageParam: page }) =>
      adminApi.call("GET /v1/admin/ai-systems/{id}/responses", { path: { id }, query: { page, page_size: 20 } }),
    initialPageParam: 1,
    getNextPageParam: nextPage,
  });
  const responses = found.data?.pages.flatMap((page) => page.responses) ?? [];
  const isNarrowed = responses.some(({ status }) => status === "active");
  // Loads further pages, because dry runs and refusals may be newer than the responses in force.
  useEffect(() => {
    if (!isNarrowed) readOn(found);
  }, [isNarrowed, found]);
  const undo = useMutation({
    mutationFn: () => adminApi.call("POST /v1/admin/ai-systems/{id}/restore", { path: { id }, body: { reason: reason.trim() } }),
    async onSuccess() {
      setReason("");
      await queries.invalidateQueries({ queryKey: ["ai-system", id] });
      showToast("Restored. The operating envelope and lifecycle state still apply.");
    },
  });
  if (responses.length === 0) return null;
  return (
    <Panel title="Responses">
      <div className="grid gap-4">
        <ul className="grid gap-2">
          {responses.map((one) => (
            <li key={one.id} className="flex flex-wrap items-center gap-2 text-sm">
              <Badge tone={TONES[one.status]}>{one.status.replaceAll("_", " ")}</Badge>
              <span className="font-medium">{ACTIONS[one.action]}</span>
              <span className="break-all text-muted">
                by {one.policy_name}, {formatRelative(one.fired_at)}: {one.reason}
              </span>
            </li>
          ))}
        </ul>
        <MoreButton list={found} label="Show earlier responses" />
        {mayRestore && isNarrowed && (
          <div className="grid max-w-xl gap-3">
            <TextField label="Reason for restoring" value={reason} maxLength={4000} onChange={({ target }) => setReason(target.value)} />
            <FormError error={undo.error} />
            <div>
              <Button look="primary" busy={undo.isPending} disabled={reason.trim() === ""} onClick={() => undo.mutate()}>
                Restore
              </Button>
            </div>
          </div>
        )}
      </div>
    </Panel>
  );
}
