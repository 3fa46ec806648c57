import { formatNumber } from "@gatehouse/web-kit/formats.ts";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";

/** What an AI System's audit rows prove about each statement, with an example row. */
export function LedgerStatementsPanel({ id }: { readonly id: string }): ReactNode {
  const found = useQuery({
    queryKey: ["ai-system", id, "statements"],
    queryFn: () => adminApi.call("GET /v1/admin/ai-systems/{id}/statements", { path: { id }, query: {} }),
  });
  return (
    <Panel title="What the audit rows show">
      {found.isPending && <Skeleton label="Loading" lines={4} />}
      {found.isError && <ErrorState error={found.error} title="The statements could not be read" requestLabel="Request" />}
      {found.isSuccess && (
        <ul className="grid gap-2">
          {found.data.statements.map(({ id: statement, title, met, of, rows }) => (
            <li key={statement} className="flex flex-wrap items-center gap-2">
              <Badge tone={of === 0 ? "neutral" : met === of ? "good" : "warn"}>
                {of === 0 ? "no calls" : `${formatNumber(met)} of ${formatNumber(of)}`}
              </Badge>
              <span className="min-w-0 wrap-anywhere">{title}</span>
              {rows[0] !== undefined && (
                <Link to="/audit" search={{ q: rows[0], row: rows[0] } as never} className="text-accent underline">
                  Example row
                </Link>
              )}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
