import { Button } from "@gatehouse/web-kit/button.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatNumber, formatRelative } from "@gatehouse/web-kit/formats.ts";
import { Badge, Facts, Panel } from "@gatehouse/web-kit/page.tsx";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { nextPage } from "@gatehouse/web-kit/paged-list.ts";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import { Allowed } from "../records/allowed.tsx";

const REFRESH_MS = 2_000;

const read = (id: string) => adminApi.call("GET /v1/admin/ai-systems/{id}/replay", { path: { id }, query: {} });
type State = Awaited<ReturnType<typeof read>>;

const GATE_TONES: Readonly<Record<string, "good" | "bad" | "warn" | "neutral">> = { passed: "good", failed: "bad", no_suite: "neutral" };
const CASE_TONES = { pass: "good", fail: "bad", flaky: "warn", error: "warn", skipped: "neutral" } as const;
const RUN_TONES = { queued: "neutral", running: "accent", passed: "good", failed: "bad", errored: "warn", cancelled: "neutral" } as const;
const CANCEL = "POST /v1/admin/ai-systems/{id}/replay/runs/{run_id}/cancel";
const isUnderWay = (state: string | undefined) => state === "queued" || state === "running";

/** Replays of pinned calls under the current rules: the suite, its newest run, and the gate's verdict. */
export function ReplayPanel({ id }: { readonly id: string }): ReactNode {
  const queries = useQueryClient();
  const renew = () => queries.invalidateQueries({ queryKey: ["ai-system", id] });
  const found = useQuery({
    queryKey: ["ai-system", id, "replay"],
    queryFn: () => read(id),
    refetchInterval: ({ state }) => (isUnderWay(state.data?.last_run?.state) ? REFRESH_MS : false),
  });
  const freeze = useMutation({
    mutationFn: () => adminApi.call("POST /v1/admin/ai-systems/{id}/replay/suite", { path: { id }, body: {} }),
    async onSuccess({ suite }) {
      await renew();
      showToast(`Suite ${suite?.version ?? ""} was created.`);
    },
  });
  const run = useMutation({
    mutationFn: () => adminApi.call("POST /v1/admin/ai-systems/{id}/replay/run", { path: { id }, body: {} }),
    onSuccess: renew,
  });
  const state = found.data;
  return (
    <Panel
      title="Replay"
      actions={
        <div className="flex flex-wrap items-center gap-2">
          {state !== undefined && <Badge tone={GATE_TONES[state.gate.verdict] ?? "warn"}>{state.gate.verdict.replaceAll("_", " ")}</Badge>}
          <Allowed operation="POST /v1/admin/ai-systems/{id}/replay/suite">
            <Button busy={freeze.isPending} onClick={() => freeze.mutate()}>
              Create suite
            </Button>
          </Allowed>
          <Allowed operation="POST /v1/admin/ai-systems/{id}/replay/run">
            <Button busy={run.isPending} disabled={state?.suite == null || isUnderWay(state.last_run?.state)} onClick={() => run.mutate()}>
              Run suite
            </Button>
          </Allowed>
        </div>
      }
    >
      {found.isPending && <Skeleton label="Loading" lines={3} />}
      {found.isError && <ErrorState error={found.error} title="Its replays could not be read" requestLabel="Request" />}
      <FormError error={freeze.error ?? run.error} />
      {state !== undefined && <ReplaySummary id={id} state={state} />}
    </Panel>
  );
}

function ReplaySummary({
  id,
  state: { suite, gate, last_run: run, contract_version: version },
}: {
  readonly id: string;
  readonly state: State;
}): ReactNode {
  if (suite === null) return <p className="text-muted">No suite yet. A suite is a sample of recent calls.</p>;
  const { pass_rate: rate, coverage } = gate;
  return (
    <div className="grid gap-3">
      {gate.reasons.length > 0 && <p className="text-muted">{gate.reasons.join(" ")}</p>}
      <Facts
        items={[
          ["Gate for", version === null ? "no contract" : `version ${version}`],
          ["Suite", `${suite.version}, ${formatNumber(suite.cases.length)} cases, each ${formatNumber(suite.repeats)} times`],
          ["Passed", rate === null ? "not known" : `${percent(rate)}, ${percent(suite.threshold)} required`],
          ["Cases still stored", coverage === null ? "not known" : percent(coverage)],
          ["Latest run", run === null ? "none" : `${run.state}, requested ${formatRelative(run.created_at)}`],
        ]}
      />
      {run !== null && isUnderWay(run.state) && <CancelRun id={id} runId={run.id} />}
      {run !== null && !isUnderWay(run.state) && <Results id={id} runId={run.id} />}
      <EarlierRuns id={id} newest={run?.id} />
    </div>
  );
}

function CancelRun({ id, runId }: { readonly id: string; readonly runId: string }): ReactNode {
  const queries = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => adminApi.call(CANCEL, { path: { id, run_id: runId }, body: {} }),
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: ["ai-system", id] });
      showToast("The run was cancelled.");
    },
  });
  return (
    <Allowed operation={CANCEL}>
      <div className="grid gap-2">
        <div>
          <Button busy={cancel.isPending} onClick={() => cancel.mutate()}>
            Cancel this run
          </Button>
        </div>
        <FormError error={cancel.error} />
      </div>
    </Allowed>
  );
}

/** Earlier runs, collapsed. */
function EarlierRuns({ id, newest }: { readonly id: string; readonly newest: string | undefined }): ReactNode {
  const found = useInfiniteQuery({
    queryKey: ["ai-system", id, "replay", "runs", newest],
    queryFn: ({ pageParam: page }) =>
      adminApi.call("GET /v1/admin/ai-systems/{id}/replay/runs", { path: { id }, query: { page, page_size: 20 } }),
    initialPageParam: 1,
    getNextPageParam: nextPage,
  });
  const earlier = found.data?.pages.flatMap((page) => page.runs).filter((run) => run.id !== newest) ?? [];
  if (earlier.length === 0) return null;
  return (
    <details>
      <summary className="min-h-6 cursor-pointer text-sm font-medium">Earlier runs</summary>
      <ul className="mt-3 grid gap-2">
        {earlier.map((run) => (
          <li key={run.id} className="flex flex-wrap items-center gap-2 text-sm">
            <Badge tone={RUN_TONES[run.state]}>{run.state}</Badge>
            <span className="text-muted">
              suite {run.suite_version}, {formatRelative(run.created_at)} by {run.requested_by ?? "the gateway"}
              {run.totals === null ? "" : `, ${formatNumber(run.totals.passed)} of ${formatNumber(run.totals.cases)} cases passed`}
            </span>
          </li>
        ))}
      </ul>
      <MoreButton list={found} label="Show earlier runs" />
    </details>
  );
}

const percent = (share: number): string => `${formatNumber(Math.round(1000 * share) / 10)} %`;

/** The cases of a run that did not match expectations. */
function Results({ id, runId }: { readonly id: string; readonly runId: string }): ReactNode {
  const found = useQuery({
    queryKey: ["ai-system", id, "replay", runId],
    queryFn: () => adminApi.call("GET /v1/admin/ai-systems/{id}/replay/runs/{run_id}", { path: { id, run_id: runId } }),
  });
  const deviating = (found.data?.results ?? []).filter(({ state }) => state !== "pass");
  if (found.data?.error != null) return <p className="text-muted">It ended early: {found.data.error}.</p>;
  if (deviating.length === 0) return null;
  return (
    <ul className="grid gap-2">
      {deviating.map(({ case_id: name, state, reasons, rows }) => (
        <li key={name} className="flex flex-wrap items-center gap-2">
          <Badge tone={CASE_TONES[state]}>{state}</Badge>
          <span className="font-medium">{name}</span>
          <span className="break-all text-muted">{reasons.join(" ")}</span>
          {rows[0] !== undefined && (
            <Link to="/audit" search={{ q: rows[0], row: rows[0] } as never} className="text-accent underline">
              Its row
            </Link>
          )}
        </li>
      ))}
    </ul>
  );
}
