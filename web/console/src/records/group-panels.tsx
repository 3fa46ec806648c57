import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatNumber, formatRelative } from "@gatehouse/web-kit/formats.ts";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { Badge, Facts, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import { PortalVisibility } from "../models/portal-visibility.tsx";
import { PeopleOfResourceGroup } from "../people/people-of-resource-group.tsx";
import { GroupSkills } from "../skills/group-skills.tsx";
import { useAllowed } from "./allowed.tsx";
import { memberLabel } from "./api-schema.ts";
import { type GroupOfPanels, NarrowerRules, rulesOfModel, rulesOfServer } from "./narrower-rules.tsx";
import { askRecords } from "./records-client.ts";

const PAGE_SIZE = 200;
/** A list row: name at the start, actions at the end. */
const ROW = "flex flex-wrap items-center gap-2 border-t border-line pt-2 first:border-0 first:pt-0";

/** A resource group's grants and where they are inherited from, its place in the tree, and current usage of its limits. */
export function GroupPanels(group: GroupOfPanels): ReactNode {
  const { id } = group;
  return (
    <>
      <Family id={id} />
      <Models {...group} />
      <Servers {...group} />
      <GroupSkills {...group} />
      <PeopleOfResourceGroup id={id} />
      <Used id={id} />
    </>
  );
}

function GroupLink({ id, name }: { readonly id: string; readonly name: string }): ReactNode {
  return (
    <Link to="/manage/$kind/$id" params={{ kind: "resource-groups", id }} className="inline-block py-0.5 text-accent underline">
      {name}
    </Link>
  );
}

function Family({ id }: { readonly id: string }): ReactNode {
  const above = useQuery({
    queryKey: ["group", id, "ancestors"],
    queryFn: () => askRecords("GET", `/v1/admin/resource-groups/${id}/ancestors`),
  });
  const below = useQuery({
    queryKey: ["group", id, "descendants"],
    queryFn: () => askRecords("GET", `/v1/admin/resource-groups/${id}/descendants`),
  });
  const named = (answer: Readonly<Record<string, unknown>> | undefined) =>
    Object.values(answer ?? {})
      .filter(Array.isArray)
      .flat()
      .filter((one): one is { id: string; name: string } => typeof one?.id === "string" && typeof one?.name === "string" && one.id !== id);
  const links = ({ isPending, error, data }: typeof above) => {
    if (isPending) return <Skeleton label="Loading" lines={1} />;
    if (error !== null) return <FormError error={error} />;
    const groups = named(data);
    return groups.length === 0 ? (
      <span className="text-muted">none</span>
    ) : (
      <span className="flex flex-wrap gap-x-3">
        {groups.map((group) => (
          <GroupLink key={group.id} {...group} />
        ))}
      </span>
    );
  };
  return (
    <Panel title="Position in the tree">
      <Facts
        items={[
          ["Parent groups", links(above)],
          ["Subgroups", links(below)],
        ]}
      />
    </Panel>
  );
}

function Models(group: GroupOfPanels): ReactNode {
  const { id } = group;
  const mayChange = useAllowed()("PATCH /v1/admin/resource-groups/{id}/llm-models/{model_id}/limits");
  const models = useInfiniteQuery({
    queryKey: ["group", id, "models"],
    queryFn: ({ pageParam }) =>
      adminApi.call("GET /v1/admin/resource-groups/{id}/llm-models", { path: { id }, query: { page: pageParam, page_size: PAGE_SIZE } }),
    initialPageParam: 1,
    getNextPageParam: ({ page, total }) => (page * PAGE_SIZE < total ? page + 1 : undefined),
  });
  const listed = models.data?.pages.flatMap((page) => page.llm_models) ?? [];
  return (
    <Panel title="Models">
      {models.isPending && <Skeleton label="Loading" lines={2} />}
      {models.isError && <ErrorState error={models.error} title="The models could not be read" requestLabel="Request" />}
      {models.isSuccess && listed.length === 0 && <p className="text-muted">None. Grant one on the model&apos;s page.</p>}
      {models.isSuccess && (
        <ul className="grid gap-2">
          {listed.map((model) => (
            <li key={model.id} className={ROW}>
              <Link to="/manage/$kind/$id" params={{ kind: "models", id: model.id }} className="text-accent underline">
                {model.name}
              </Link>
              <span className="text-sm text-muted">{model.provider}</span>
              {model.inherited && (
                <Badge>
                  from <GroupLink id={model.bound_group_id} name={model.bound_group_name} />
                </Badge>
              )}
              {model.judge_only && <Badge tone="warn">for policies in words only</Badge>}
              {!model.portal_visible && <Badge>hidden in the portal</Badge>}
              {!model.enabled && <Badge tone="bad">off</Badge>}
              <span className="grow" />
              {!model.inherited && <PortalVisibility groupId={id} model={model} />}
              <NarrowerRules group={group} name={model.name} about={rulesOfModel(model)} mayChange={mayChange} />
            </li>
          ))}
        </ul>
      )}
      <MoreButton list={models} label="More models" />
    </Panel>
  );
}

function Servers(group: GroupOfPanels): ReactNode {
  const { id } = group;
  const mayChange = useAllowed()("PATCH /v1/admin/resource-groups/{id}/mcp-servers/{server_id}/limits");
  const servers = useQuery({
    queryKey: ["group", id, "servers"],
    queryFn: () => adminApi.call("GET /v1/admin/resource-groups/{id}/effective-server-configs", { path: { id } }),
  });
  return (
    <Panel title="Tool servers">
      {servers.isPending && <Skeleton label="Loading" lines={2} />}
      {servers.isError && <ErrorState error={servers.error} title="The tool servers could not be read" requestLabel="Request" />}
      {servers.isSuccess && servers.data.server_configs.length === 0 && (
        <p className="text-muted">None. A server configuration grants one.</p>
      )}
      {servers.isSuccess && (
        <ul className="grid gap-2">
          {servers.data.server_configs.map((config) => (
            <li key={config.id} className={ROW}>
              <Link to="/manage/$kind/$id" params={{ kind: "server-configs", id: config.id }} className="text-accent underline">
                {config.name}
              </Link>
              {config.inherited && <Badge>inherited</Badge>}
              {config.approval_required_tools.length > 0 && (
                <Badge tone="warn">asks before {config.approval_required_tools.join(", ")}</Badge>
              )}
              {!config.enabled && <Badge tone="bad">off</Badge>}
              <span className="grow" />
              <NarrowerRules group={group} name={config.name} about={rulesOfServer(config)} mayChange={mayChange} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

const limitLabel = (type: string) => memberLabel(type);

/** Usage of each limit, the most used first. */
function Used({ id }: { readonly id: string }): ReactNode {
  const used = useQuery({
    queryKey: ["group", id, "consumption"],
    queryFn: () => adminApi.call("GET /v1/admin/resource-groups/{id}/consumption", { path: { id } }),
    refetchInterval: 10_000,
  });
  if (used.isPending) return null;
  if (used.data === undefined)
    return (
      <Panel title="Current usage">
        <ErrorState error={used.error} title="What is used could not be read" requestLabel="Request" />
      </Panel>
    );
  const limits = used.data.limits.toSorted((a, b) => (b.utilization_percent ?? 0) - (a.utilization_percent ?? 0));
  return (
    <Panel title="Current usage">
      {limits.length === 0 && <p className="text-muted">No limit applies.</p>}
      <ul className="grid gap-3">
        {limits.map((limit, at) => (
          <li key={at} className="grid gap-1">
            <span className="flex flex-wrap items-center gap-2 text-sm">
              <span className="font-medium">{limitLabel(limit.limit_type)}</span>
              {limit.inherited && <Badge>of {limit.group_name}</Badge>}
              {limit.blocks && <Badge tone="bad">blocks calls</Badge>}
              <span className="text-muted tabular-nums">
                {formatNumber(limit.current ?? 0)} of {formatNumber(limit.limit)}
                {limit.resets_at == null ? "" : `, anew ${formatRelative(limit.resets_at)}`}
              </span>
            </span>
            <progress
              aria-label={limitLabel(limit.limit_type)}
              className="h-2 w-full appearance-none overflow-hidden rounded-full [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-sunken [&::-webkit-progress-value]:bg-accent"
              max={100}
              value={Math.min(100, limit.utilization_percent ?? 0)}
            />
          </li>
        ))}
      </ul>
    </Panel>
  );
}
