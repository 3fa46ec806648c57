import { formatNumber } from "@gatehouse/web-kit/formats.ts";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";

/** The groups that may use the skill. Grants are edited on the group's page. */
export function SkillGroups({ id }: { readonly id: string }): ReactNode {
  const groups = useQuery({
    queryKey: ["skill", id, "groups"],
    queryFn: () => adminApi.call("GET /v1/admin/agent-skills/{id}/resource-groups", { path: { id }, query: { page_size: 200 } }),
  });
  const more = groups.data === undefined ? 0 : groups.data.total - groups.data.resource_groups.length;
  return (
    <Panel title="Who may use it">
      {groups.isPending && <Skeleton label="Loading" lines={2} />}
      {groups.isError && <ErrorState error={groups.error} title="The groups could not be read" requestLabel="Request" />}
      {groups.data?.resource_groups.length === 0 && <p className="text-muted">Nobody: grant it on the page of a resource group.</p>}
      <ul className="grid gap-2">
        {groups.data?.resource_groups.map(({ id: group, name, inherited, bound_group_name: from }) => (
          <li key={group} className="flex flex-wrap items-center gap-2">
            <Link to="/manage/$kind/$id" params={{ kind: "resource-groups", id: group }} className="text-accent underline">
              {name}
            </Link>
            {inherited && <Badge>from {from}</Badge>}
          </li>
        ))}
      </ul>
      {more > 0 && <p className="mt-2 text-sm text-muted">{formatNumber(more)} more.</p>}
    </Panel>
  );
}
