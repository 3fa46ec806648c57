import { Button } from "@gatehouse/web-kit/button.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { Panel } from "@gatehouse/web-kit/page.tsx";
import { nextPage } from "@gatehouse/web-kit/paged-list.ts";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import { Allowed } from "../records/allowed.tsx";
import { AddForm } from "./add-form.tsx";

const LINK = "POST /v1/admin/resource-groups/{id}/end-user-groups";
const UNLINK = "DELETE /v1/admin/resource-groups/{id}/end-user-groups";

/** Groups of people whose members may use a resource group. */
export function PeopleOfResourceGroup({ id }: { readonly id: string }): ReactNode {
  const queries = useQueryClient();
  const found = useInfiniteQuery({
    queryKey: ["group", id, "people"],
    queryFn: ({ pageParam: page }) =>
      adminApi.call("GET /v1/admin/resource-groups/{id}/end-user-groups", { path: { id }, query: { page, page_size: 100 } }),
    initialPageParam: 1,
    getNextPageParam: nextPage,
  });
  const groups = found.data?.pages.flatMap((page) => page.end_user_groups) ?? [];
  const renew = () =>
    Promise.all([["group", id, "people"], ["group of people"]].map((queryKey) => queries.invalidateQueries({ queryKey })));
  const link = useMutation({
    mutationFn: (group: string) => adminApi.call(LINK, { path: { id }, body: { end_user_group_ids: [group] } }),
    onSuccess: renew,
  });
  const unlink = useMutation({
    mutationFn: ({ id: group }: { readonly id: string; readonly name: string }) =>
      adminApi.call(UNLINK, { path: { id }, query: { end_user_group_ids: group } }),
    async onSuccess(_answer, { id: group, name }) {
      await renew();
      showToast(`Members of ${name} no longer have this resource group.`, { label: "Undo", run: () => link.mutate(group) });
    },
  });
  return (
    <Panel title="Groups of people that may use it">
      {found.isPending && <Skeleton label="Loading" lines={2} />}
      {found.isError && <ErrorState error={found.error} title="The groups of people could not be read" requestLabel="Request" />}
      {found.isSuccess && groups.length === 0 && (
        <p className="text-muted">None. People whose primary group this is may use it all the same.</p>
      )}
      <ul aria-label="Groups of people" className="grid gap-2">
        {groups.map((group) => (
          <li key={group.id} className="flex flex-wrap items-center gap-2">
            <Link to="/manage/$kind/$id" params={{ kind: "groups-of-people", id: group.id }} className="text-accent underline">
              {group.name}
            </Link>
            <span className="text-sm text-muted">{group.display_name}</span>
            <Allowed operation={UNLINK}>
              <Button
                aria-label={`Remove ${group.name}`}
                busy={unlink.isPending && unlink.variables.id === group.id}
                onClick={() => unlink.mutate(group)}
              >
                Remove
              </Button>
            </Allowed>
          </li>
        ))}
      </ul>
      <MoreButton list={found} label="Show more groups of people" />
      <FormError error={unlink.error} />
      <Allowed operation={LINK}>
        <AddForm of="groups-of-people" label="Group of people" buttonLabel="Give access" add={link} />
      </Allowed>
    </Panel>
  );
}
