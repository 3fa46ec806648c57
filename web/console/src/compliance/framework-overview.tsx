import { formatNumber } from "@gatehouse/web-kit/formats.ts";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import { type ReportedFramework, TITLES } from "./read-report.ts";
import { STATUS_TONES } from "./report-sheet.tsx";

/** The same order for every framework, so that they can be compared. */
const STATUSES = Object.keys(STATUS_TONES) as (keyof typeof STATUS_TONES)[];

/** Number of items per status and framework in the last 30 days, whether or not the framework is selected; each links to its report. */
export function FrameworkOverview({ onOpen }: { readonly onOpen: (framework: ReportedFramework) => void }): ReactNode {
  const found = useQuery({
    queryKey: ["compliance", "dashboard"],
    queryFn: () => adminApi.call("GET /v1/admin/compliance/dashboard", { query: {} }),
  });
  return (
    <Panel title="All frameworks, last 30 days">
      {found.isPending && <Skeleton label="Loading" lines={3} />}
      {found.isError && <ErrorState error={found.error} title="The overview could not be read" requestLabel="Request" />}
      {found.isSuccess && (
        <ul className="grid gap-2">
          {found.data.frameworks.map(({ framework, items, statuses }) => (
            <li key={framework} className="flex flex-wrap items-center gap-2">
              <button
                type="button"
                className="min-h-6 min-w-40 text-start font-medium text-accent underline"
                onClick={() => onOpen(framework)}
              >
                {TITLES[framework]}
              </button>
              <span className="text-sm text-muted">
                {formatNumber(items)} {items === 1 ? "item" : "items"}
              </span>
              {STATUSES.map((status) => {
                const many = statuses[status] ?? 0;
                return many === 0 ? null : (
                  <Badge key={status} tone={STATUS_TONES[status]}>
                    {formatNumber(many)} {status.replaceAll("_", " ")}
                  </Badge>
                );
              })}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
