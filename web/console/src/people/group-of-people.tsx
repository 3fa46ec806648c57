import { Button } from "@gatehouse/web-kit/button.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import { Allowed } from "../records/allowed.tsx";
import { recordKind } from "../records/record-kinds.ts";
import { recordsKey } from "../records/records-client.ts";
import { AddForm } from "./add-form.tsx";

const PAGE = 100;
const DIRECT = "direct";

/** The members of a group of people, and the resource groups they may use through it. */
export function GroupOfPeoplePanels({ id }: { readonly id: string }): ReactNode {
  return (
    <>
      <Members id={id} />
      <BoundGroups id={id} />
    </>
  );
}

/** Refetches everything that shows the group: its record and the lists below it. */
function useReadAnew(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    const kind = recordKind("groups-of-people");
    await Promise.all([
      queries.invalidateQueries({ queryKey: ["group of people"] }),
      ...(kind === undefined ? [] : [queries.invalidateQueries({ queryKey: recordsKey(kind) })]),
    ]);
  };
}

function Members({ id }: { readonly id: string }): ReactNode {
  const readAnew = useReadAnew();
  const found = useInfiniteQuery({
    queryKey: ["group of people", id, "members"],
    queryFn: ({ pageParam }) =>
      adminApi.call("GET /v1/admin/end-user-groups/{id}/members", { path: { id }, query: { page: pageParam, page_size: PAGE } }),
    initialPageParam: 1,
    getNextPageParam: ({ page, total }) => (page * PAGE < total ? page + 1 : undefined),
  });
  const members = found.data?.pages.flatMap((page) => page.members) ?? [];
  const add = useMutation({
    mutationFn: (person: string) =>
      adminApi.call("POST /v1/admin/end-user-groups/{id}/members", { path: { id }, body: { end_user_ids: [person] } }),
    onSuccess: readAnew,
  });
  const takeOut = useMutation({
    mutationFn: ({ id: person }: { readonly id: string; readonly username: string }) =>
      adminApi.call("DELETE /v1/admin/end-user-groups/{id}/members", { path: { id }, query: { end_user_ids: person } }),
    async onSuccess(_answer, { id: person, username }) {
      await readAnew();
      showToast(`${username} was removed.`, { label: "Undo", run: () => add.mutate(person) });
    },
  });
  return (
    <Panel title="Members">
      {found.isPending && <Skeleton label="Loading" lines={2} />}
      {found.isError && <ErrorState error={found.error} title="The members could not be read" requestLabel="Request" />}
      {found.isSuccess && members.length === 0 && <p className="text-muted">No members yet.</p>}
      <ul aria-label="Members" className="grid gap-2">
        {members.map((member) => (
          <li key={member.id} className="flex flex-wrap items-center gap-2">
            <Link to="/manage/$kind/$id" params={{ kind: "people", id: member.id }} className="text-accent underline">
              {member.username}
            </Link>
            <span className="text-sm text-muted">{member.display_name}</span>
            {member.sources
              .filter((source) => source !== DIRECT)
              .map((source) => (
                <Badge key={source}>by {source}</Badge>
              ))}
            {!member.is_active && <Badge tone="warn">off</Badge>}
            {member.sources.includes(DIRECT) && (
              <Allowed operation="DELETE /v1/admin/end-user-groups/{id}/members">
                <Button busy={takeOut.isPending && takeOut.variables.id === member.id} onClick={() => takeOut.mutate(member)}>
                  Remove {member.username}
                </Button>
              </Allowed>
            )}
          </li>
        ))}
      </ul>
      <MoreButton list={found} label="Show more members" />
      <FormError error={takeOut.error} />
      <Allowed operation="POST /v1/admin/end-user-groups/{id}/members">
        <AddForm of="people" label="Person to add" buttonLabel="Add member" add={add} />
      </Allowed>
    </Panel>
  );
}

function BoundGroups({ id }: { readonly id: string }): ReactNode {
  const readAnew = useReadAnew();
  const found = useQuery({
    queryKey: ["group of people", id, "resource groups"],
    queryFn: () => adminApi.call("GET /v1/admin/end-user-groups/{id}/resource-groups", { path: { id } }),
  });
  const bind = useMutation({
    mutationFn: (group: string) =>
      adminApi.call("POST /v1/admin/end-user-groups/{id}/resource-groups", { path: { id }, body: { resource_group_ids: [group] } }),
    onSuccess: readAnew,
  });
  const unbind = useMutation({
    mutationFn: ({ id: group }: { readonly id: string; readonly name: string }) =>
      adminApi.call("DELETE /v1/admin/end-user-groups/{id}/resource-groups", { path: { id }, query: { resource_group_ids: group } }),
    async onSuccess(_answer, { id: group, name }) {
      await readAnew();
      showToast(`${name} was removed from this group.`, { label: "Undo", run: () => bind.mutate(group) });
    },
  });
  return (
    <Panel title="Resource groups">
      {found.isPending && <Skeleton label="Loading" lines={2} />}
      {found.isError && <ErrorState error={found.error} title="The resource groups could not be read" requestLabel="Request" />}
      {found.isSuccess && found.data.total === 0 && <p className="text-muted">None yet.</p>}
      <ul aria-label="Resource groups" className="grid gap-2">
        {found.data?.resource_groups.map((group) => (
          <li key={group.id} className="flex flex-wrap items-center gap-2">
            <Link to="/manage/$kind/$id" params={{ kind: "resource-groups", id: group.id }} className="text-accent underline">
              {group.name}
            </Link>
            <Allowed operation="DELETE /v1/admin/end-user-groups/{id}/resource-groups">
              <Button busy={unbind.isPending && unbind.variables.id === group.id} onClick={() => unbind.mutate(group)}>
                Remove {group.name}
              </Button>
            </Allowed>
          </li>
        ))}
      </ul>
      <FormError error={unbind.error} />
      <Allowed operation="POST /v1/admin/end-user-groups/{id}/resource-groups">
        <AddForm of="resource-groups" label="Resource group" buttonLabel="Give access" add={bind} />
      </Allowed>
    </Panel>
  );
}
