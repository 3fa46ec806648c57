import { formatDate } from "@gatehouse/web-kit/formats.ts";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";

interface Difference {
  readonly skills_added?: readonly string[];
  readonly skills_removed?: readonly string[];
  readonly skills_changed?: readonly string[];
  readonly changes?: readonly string[];
}
interface After {
  readonly difference?: Difference;
  readonly card_signature?: { readonly detail?: string };
}

const MAX = 20;

/** The history of the agent's card, with the differences between versions. */
export function CardChanges({ id }: { readonly id: string }): ReactNode {
  const found = useQuery({
    queryKey: ["records", "agents", "changes", id],
    queryFn: () => adminApi.call("GET /v1/admin/admin-log", { query: { resource: "agents", resource_id: id, page_size: 100 } }),
  });
  const entries = (found.data?.entries ?? []).filter(({ action }) => action === "refresh_card" || action === "refuse_card").slice(0, MAX);
  return (
    <Panel title="What changed in its card">
      {found.isPending && <Skeleton label="Loading" lines={2} />}
      {found.isError && <ErrorState error={found.error} title="The changes could not be read" requestLabel="Request" />}
      {found.isSuccess && entries.length === 0 && <p className="text-muted">No card of it was found yet.</p>}
      <ol className="grid gap-3">
        {entries.map(({ id: entry, at, action, after }) => (
          <li key={entry} className="grid gap-1">
            <time dateTime={at} className="text-sm text-muted">
              {formatDate(at)}
            </time>
            {action === "refuse_card" ? (
              <p className="flex flex-wrap items-center gap-2">
                <Badge tone="bad">not taken over</Badge> {(after as After | null)?.card_signature?.detail}
              </p>
            ) : (
              <DifferenceText difference={(after as After | null)?.difference ?? {}} />
            )}
          </li>
        ))}
      </ol>
    </Panel>
  );
}

function DifferenceText({ difference }: { readonly difference: Difference }): ReactNode {
  const { skills_added: added = [], skills_removed: removed = [], skills_changed: changed = [], changes = [] } = difference;
  const skills = [
    ...added.map((skill) => ["new skill", skill, "good"] as const),
    ...removed.map((skill) => ["skill gone", skill, "bad"] as const),
    ...changed.map((skill) => ["skill changed", skill, "warn"] as const),
  ];
  if (skills.length + changes.length === 0) return <p className="text-muted">Nothing that matters to callers.</p>;
  return (
    <ul className="grid gap-1">
      {skills.map(([what, skill, tone]) => (
        <li key={`${what} ${skill}`} className="flex flex-wrap items-center gap-2">
          <Badge tone={tone}>{what}</Badge> <code className="break-all">{skill}</code>
        </li>
      ))}
      {changes.map((change) => (
        <li key={change} className="break-words">
          {change}
        </li>
      ))}
    </ul>
  );
}
