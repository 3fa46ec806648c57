import { formatNumber, formatRelative, formatUsd } from "@gatehouse/web-kit/formats.ts";
import { Badge, Facts, PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import type { ListedRow } from "../audit/listed-row.ts";
import { FirstSteps } from "../first-steps.tsx";
import { PRODUCT } from "../product.ts";
import { Allowed } from "../records/allowed.tsx";
import { OfAllTenants } from "../of-all-tenants.tsx";

const RECENT = 200;

const sum = (rows: readonly ListedRow[], of: (row: ListedRow) => number | null | undefined) =>
  rows.reduce((total, row) => total + (of(row) ?? 0), 0);

/** Outcomes of the newest calls. */
function Traffic({ rows }: { readonly rows: readonly ListedRow[] }): ReactNode {
  const refused = rows.filter(({ success }) => success === false);
  const causes = Map.groupBy(refused, ({ error_type: type }) => type ?? "failed");
  const oldest = rows.at(-1)?.timestamp;
  if (rows.length === 0)
    return (
      <Panel title="Calls">
        <p>
          No call yet. The first one is three lines in the README: send it, and its row stands in the{" "}
          <Link to="/audit" className="text-accent underline">
            audit explorer
          </Link>{" "}
          a second later.
        </p>
      </Panel>
    );
  return (
    <Panel title={`Latest ${formatNumber(rows.length)} calls`}>
      <Facts
        items={[
          ["Since", oldest == null ? "" : formatRelative(oldest)],
          ["Served", formatNumber(rows.length - refused.length)],
          ["Refused or failed", formatNumber(refused.length)],
          ...[...causes].map(([type, of]) => [`  ${type}`, formatNumber(of.length)] as const),
          ["Tokens", formatNumber(sum(rows, (row) => row.llm_total_tokens))],
          ["Cost", formatUsd(sum(rows, (row) => row.llm_estimated_cost_usd))],
        ]}
      />
      <p className="mt-4">
        <Link to="/audit" search={{ outcome: "refused" } as never} className="text-accent underline">
          Show refused calls
        </Link>
      </p>
    </Panel>
  );
}

/** Alerts raised by the gateway that are still open. */
function OpenAlerts(): ReactNode {
  const open = useQuery({
    queryKey: ["alerts", "open", "newest"],
    queryFn: () => adminApi.call("GET /v1/admin/alerts", { query: { resolved: "false", page_size: 5 } }),
    retry: false,
  });
  if (!open.isSuccess || open.data.total === 0) return null;
  return (
    <Panel title={open.data.total === 1 ? "1 alert" : `${formatNumber(open.data.total)} alerts`}>
      <ul className="grid gap-2">
        {open.data.alerts.map(({ id, title, severity, created_at: at }) => (
          <li key={id} className="flex flex-wrap items-baseline gap-2">
            <Badge tone={severity === "critical" ? "bad" : "warn"}>{severity}</Badge>
            <span className="min-w-0 wrap-anywhere">
              {title}, {formatRelative(at)}
            </span>
          </li>
        ))}
      </ul>
      <p className="mt-4">
        <Link to="/alerts" className="text-accent underline">
          Show alerts
        </Link>
      </p>
    </Panel>
  );
}

/** How far each audit chain is signed. Only system administrators may list the chains. */
function Record(): ReactNode {
  const chains = useQuery({ queryKey: ["chains"], queryFn: () => adminApi.call("GET /v1/admin/audit/chains"), retry: false });
  if (!chains.isSuccess) return null;
  return (
    <Panel title="Audit chains">
      <Facts
        items={chains.data.chains.map(
          ({ chain_id: id, head_seq: head, last_checkpoint_seq: signed, updated_at: at }) =>
            [
              id,
              <span key={id} className="flex flex-wrap items-center gap-2">
                {formatNumber(head)} rows{signed === null ? "" : `, signed up to ${formatNumber(signed)}`}, written {formatRelative(at)}
                <Badge tone={signed === null ? "warn" : "good"}>{signed === null ? "not signed yet" : "signed"}</Badge>
              </span>,
            ] as const,
        )}
      />
    </Panel>
  );
}

function Waiting(): ReactNode {
  const waiting = useQuery({
    queryKey: ["approvals", "pending"],
    queryFn: () => adminApi.call("GET /v1/admin/approvals", { query: { status: "pending", page_size: 5 } }),
    retry: false,
  });
  if (!waiting.isSuccess || waiting.data.total === 0) return null;
  return (
    <Panel title={waiting.data.total === 1 ? "1 pending approval" : `${formatNumber(waiting.data.total)} pending approvals`}>
      <ul className="grid gap-2">
        {waiting.data.approvals.map((approval) => (
          <li key={approval.id}>
            {approval.requester_display} asks for <strong>{approval.capability_name}</strong> on {approval.server_name},{" "}
            {formatRelative(approval.created_at)}
          </li>
        ))}
      </ul>
      <p className="mt-4">
        <Link to="/approvals" className="text-accent underline">
          Review approvals
        </Link>
      </p>
    </Panel>
  );
}

function Calls(): ReactNode {
  const calls = useQuery({
    queryKey: ["newest-calls"],
    queryFn: () => adminApi.call("POST /v1/admin/proxy-logs/query", { body: { page_size: RECENT } }),
  });
  if (calls.isPending) return <Skeleton label="Loading" />;
  return (
    <>
      {calls.isError && (
        <ErrorState
          error={calls.error}
          title="The calls could not be read"
          requestLabel="Request"
          retry={{ label: "Try again", run: () => void calls.refetch() }}
        />
      )}
      {calls.isSuccess && <FirstSteps />}
      {calls.isSuccess && <Traffic rows={calls.data.rows} />}
    </>
  );
}

export function HomePage(): ReactNode {
  return (
    <PageFrame product={PRODUCT} title="Home" lead="What this gateway governs and what needs attention.">
      <div className="grid gap-4">
        <OfAllTenants what="Calls and alerts are of all tenants, approvals and first steps of the usual one" />
        <Waiting />
        <OpenAlerts />
        <Allowed operation="POST /v1/admin/proxy-logs/query">
          <Calls />
        </Allowed>
        <Record />
      </div>
    </PageFrame>
  );
}
