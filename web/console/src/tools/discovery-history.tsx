import { formatDateInZone, formatNumber } from "@gatehouse/web-kit/formats.ts";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { nextPage } from "@gatehouse/web-kit/paged-list.ts";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";

const MAX_NAMED = 8;

const counted = (many: number, noun: string) => `${formatNumber(many)} ${noun}${many === 1 ? "" : "s"}`;

const named = (word: string, names: readonly string[]): string | null =>
  names.length === 0
    ? null
    : `${word} ${names.slice(0, MAX_NAMED).join(", ")}${names.length > MAX_NAMED ? ` and ${formatNumber(names.length - MAX_NAMED)} more` : ""}`;

/** The results of each discovery of a tool server, newest first, with the changes since the previous one. */
export function DiscoveryHistory({ id }: { readonly id: string }): ReactNode {
  const found = useInfiniteQuery({
    // Below the key of the server's own page, so that a new discovery is shown.
    queryKey: ["records", "tool-servers", "snapshots", id],
    queryFn: ({ pageParam: page }) =>
      adminApi.call("GET /v1/admin/mcp-servers/{id}/snapshots", { path: { id }, query: { page, page_size: 10 } }),
    initialPageParam: 1,
    getNextPageParam: nextPage,
  });
  const snapshots = found.data?.pages.flatMap((page) => page.snapshots) ?? [];
  return (
    <Panel title="Discovery history">
      {found.isPending && <Skeleton label="Loading" lines={2} />}
      {found.isError && <ErrorState error={found.error} title="The discovery history could not be read" requestLabel="Request" />}
      {found.isSuccess && snapshots.length === 0 && <p className="text-muted">Nothing was discovered yet.</p>}
      <ul className="grid gap-3">
        {snapshots.map(({ id: snapshot, taken_at: at, tools, prompts, resources, protocol_version: version, diff }) => {
          const changes = [named("Added", diff.added), named("Removed", diff.removed), named("Changed", diff.changed)].filter(
            (one) => one !== null,
          );
          return (
            <li key={snapshot} className="grid gap-0.5">
              <span className="flex flex-wrap items-center gap-2">
                <span className="font-medium">{formatDateInZone(at)}</span>
                <span className="text-sm text-muted">
                  {counted(tools.length, "tool")}, {counted(prompts.length, "prompt")}, {counted(resources.length, "resource")}, protocol{" "}
                  {version}
                </span>
                {diff.changed_under_approval.length > 0 && <Badge tone="bad">an approved tool changed</Badge>}
              </span>
              <span className="text-sm text-muted wrap-anywhere">{changes.length === 0 ? "No change." : `${changes.join(". ")}.`}</span>
            </li>
          );
        })}
      </ul>
      <MoreButton list={found} label="Show earlier discoveries" />
    </Panel>
  );
}
