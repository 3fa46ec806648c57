import { Button } from "@gatehouse/web-kit/button.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { nextPage, readOn } from "@gatehouse/web-kit/paged-list.ts";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { adminApi } from "../admin-client.ts";
import { Allowed } from "../records/allowed.tsx";
import { recordKind } from "../records/record-kinds.ts";
import { RecordValue } from "../records/record-value.tsx";

const TONES = { allow: "good", approval_required: "warn", deny: "bad" } as const;
const kind = recordKind("agent-grants");

/** Who may call the agent; if its skills changed since, changed skills can be accepted here. */
export function AgentGrantList({ id }: { readonly id: string }): ReactNode {
  const queries = useQueryClient();
  const found = useInfiniteQuery({
    queryKey: ["records", "agents", "grants", id],
    queryFn: ({ pageParam: page }) => adminApi.call("GET /v1/admin/agent-grants", { query: { agent_id: id, page, page_size: 200 } }),
    initialPageParam: 1,
    getNextPageParam: nextPage,
  });
  // Loads every page, because accepting a changed card applies to all grants that wait for it.
  useEffect(() => readOn(found), [found]);
  const grants = found.data?.pages.flatMap((page) => page.agent_grants) ?? [];
  const waiting = grants.filter(({ needs_confirmation: needs }) => needs);
  const accept = useMutation({
    async mutationFn(ids: readonly string[]) {
      for (const one of ids) await adminApi.call("POST /v1/admin/agent-grants/{id}/confirm", { path: { id: one } });
    },
    onSuccess: () => showToast("The changed card is accepted. It holds for the next call."),
    onSettled: () => queries.invalidateQueries({ queryKey: ["records"] }),
  });
  return (
    <Panel title="Who may call it">
      {found.isPending && <Skeleton label="Loading" lines={2} />}
      {found.isError && <ErrorState error={found.error} title="The grants could not be read" requestLabel="Request" />}
      {found.isSuccess && grants.length === 0 && <p className="text-muted">Nobody: no grant names it.</p>}
      {waiting.length > 0 && (
        <div className="mb-3 grid gap-2 rounded-lg bg-warn-soft p-3">
          <p className="text-warn">
            Its skills are not those that {waiting.length === 1 ? "a grant was" : `${waiting.length} grants were`} given for. They open
            nothing until the changed card is accepted.
          </p>
          <Allowed operation="POST /v1/admin/agent-grants/{id}/confirm">
            <div>
              <Button busy={accept.isPending || found.isFetchingNextPage} onClick={() => accept.mutate(waiting.map(({ id: one }) => one))}>
                Accept the changed card
              </Button>
            </div>
          </Allowed>
        </div>
      )}
      <FormError error={accept.error} />
      <ul className="grid gap-2">
        {grants.map((grant) => (
          <li key={grant.id} className="flex flex-wrap items-center gap-2">
            <Badge tone={TONES[grant.decision]}>{grant.decision.replaceAll("_", " ")}</Badge>
            {kind !== undefined && <RecordValue kind={kind} member="group_ids" value={grant.group_ids} />}
            <span className="text-sm text-muted">{grant.skill_ids === null ? "all skills" : grant.skill_ids.join(", ")}</span>
            {!grant.enabled && <Badge>switched off</Badge>}
            {grant.needs_confirmation && <Badge tone="warn">waits for the changed card</Badge>}
            <Link to="/manage/$kind/$id" params={{ kind: "agent-grants", id: grant.id }} className="text-sm text-accent underline">
              Change this grant
            </Link>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
