import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { SelectField } from "@gatehouse/web-kit/field.tsx";
import { formatMoment } from "@gatehouse/web-kit/formats.ts";
import { Badge, Facts, PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { nextPage } from "@gatehouse/web-kit/paged-list.ts";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { BellRing } from "lucide-react";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";
import { PRODUCT } from "../product.ts";
import { OfAllTenants } from "../of-all-tenants.tsx";

type Alert = AdminApiSchemas["Alert"];

const PAGE_SIZE = 50;
const REFRESH_MS = 30_000;
const SHOWN = [
  { value: "open", label: "Open" },
  { value: "resolved", label: "Resolved" },
  { value: "all", label: "All" },
] as const;
type Shown = (typeof SHOWN)[number]["value"];
const QUERIES = { open: { resolved: "false" }, resolved: { resolved: "true" }, all: {} } as const;

/** Alerts raised by the gateway: limits nearly or fully used, repeated authentication failures, shared keys. */
export function RaisedAlertsPage(): ReactNode {
  const searchParams = useSearch({ strict: false }) as { show?: unknown };
  const show: Shown = SHOWN.find(({ value }) => value === searchParams.show)?.value ?? "open";
  const go = useNavigate();
  const found = useInfiniteQuery({
    queryKey: ["alerts", show],
    queryFn: ({ pageParam }) =>
      adminApi.call("GET /v1/admin/alerts", { query: { ...QUERIES[show], page: pageParam, page_size: PAGE_SIZE } }),
    initialPageParam: 1,
    getNextPageParam: nextPage,
    refetchInterval: REFRESH_MS,
  });
  const alerts = found.data?.pages.flatMap((page) => page.alerts) ?? [];
  return (
    <PageFrame product={PRODUCT} title="Alerts" lead="Conditions the gateway raises on its own. An alert resolves when its cause is gone.">
      <div className="grid gap-4">
        <OfAllTenants />
        <div className="sm:max-w-60">
          <SelectField
            label="Show"
            value={show}
            choices={SHOWN}
            onChange={({ target }) =>
              void go({ to: "/alerts", search: (target.value === "open" ? {} : { show: target.value }) as never, replace: true })
            }
          />
        </div>
        {found.isPending && <Skeleton label="Loading" />}
        {found.isError && (
          <ErrorState
            error={found.error}
            title="The alerts could not be read"
            requestLabel="Request"
            retry={{ label: "Try again", run: () => void found.refetch() }}
          />
        )}
        {found.isSuccess && alerts.length === 0 && (
          <EmptyState icon={BellRing} title={show === "open" ? "No alerts" : "None"}>
            An alert is raised when a limit passes its warning level or is used up, and when many calls are refused because of their
            credential.
          </EmptyState>
        )}
        <ul className="grid gap-4">
          {alerts.map((alert) => (
            <li key={alert.id}>
              <OneAlert alert={alert} />
            </li>
          ))}
        </ul>
        <MoreButton list={found} label="More" />
      </div>
    </PageFrame>
  );
}

function OneAlert({ alert }: { readonly alert: Alert }): ReactNode {
  const { group_id: group } = alert;
  return (
    <Panel
      title={alert.title}
      actions={
        <>
          <Badge tone={alert.severity === "critical" ? "bad" : "warn"}>{alert.severity}</Badge>
          {alert.resolved && <Badge>over</Badge>}
        </>
      }
    >
      <div className="grid gap-4">
        <p dir="auto" className="wrap-anywhere">
          {alert.message}
        </p>
        <Facts
          items={[
            ["Raised", formatMoment(alert.created_at)],
            ...(alert.resolved_at === null ? [] : [["Resolved", formatMoment(alert.resolved_at)] as const]),
            ["Kind", alert.alert_type],
            [
              "Of",
              group === null ? (
                "the whole tenant"
              ) : (
                <Link key="group" to="/manage/$kind/$id" params={{ kind: "resource-groups", id: group }} className="text-accent underline">
                  its resource group
                </Link>
              ),
            ],
          ]}
        />
      </div>
    </Panel>
  );
}
