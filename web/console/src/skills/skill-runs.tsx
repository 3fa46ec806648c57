import { formatDate, formatNumber } from "@gatehouse/web-kit/formats.ts";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";

interface RunFacts {
  readonly script?: string;
  readonly version?: number;
  readonly end?: string;
  readonly exit_code?: number | null;
  readonly duration_ms?: number;
  readonly sandbox?: string;
}

const MAX = 50;
const factsOf = (metadata: unknown): RunFacts => (metadata as { skill?: RunFacts } | null)?.skill ?? {};

/** The latest runs of a skill's scripts and their outcomes. */
export function SkillRuns({ id }: { readonly id: string }): ReactNode {
  const found = useQuery({
    queryKey: ["skill", id, "runs"],
    queryFn: () =>
      adminApi.call("POST /v1/admin/proxy-logs/query", {
        body: { filters: { skill_id: id, proxy_subtype: "skill_run" }, order: "desc", page: 1, page_size: MAX },
      }),
  });
  return (
    <Panel title="Runs of its scripts">
      {found.isPending && <Skeleton label="Loading" lines={2} />}
      {found.isError && <ErrorState error={found.error} title="The runs could not be read" requestLabel="Request" />}
      {found.isSuccess && found.data.rows.length === 0 && <p className="text-muted">No script of it was run yet.</p>}
      <ul className="grid gap-2">
        {found.data?.rows.map((row) => {
          const { script, version, end, exit_code: code, duration_ms: ms, sandbox } = factsOf(row.custom_metadata);
          return (
            <li key={row.id} className="flex flex-wrap items-center gap-2">
              <Badge tone={row.success === true && (code ?? 0) === 0 ? "good" : "bad"}>
                {end === undefined ? (row.error_type ?? "not run") : end === "exited" ? `status ${code}` : end.replaceAll("_", " ")}
              </Badge>
              <Link to="/audit" search={{ where: { id: String(row.id) } } as never} className="break-all text-accent underline">
                {script ?? row.skill_execution_id ?? String(row.id)}
              </Link>
              <span className="text-sm text-muted">
                {version !== undefined && `version ${version}, `}
                {row.timestamp != null && formatDate(row.timestamp)}
                {ms !== undefined && `, ${formatNumber(ms)} ms`}
                {sandbox !== undefined && `, ${sandbox}`}
              </span>
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}
