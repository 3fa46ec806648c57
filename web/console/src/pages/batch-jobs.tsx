import { Button } from "@gatehouse/web-kit/button.tsx";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { SelectField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatDate, formatNumber, formatUsd } from "@gatehouse/web-kit/formats.ts";
import { Badge, Facts, PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { nextPage } from "@gatehouse/web-kit/paged-list.ts";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { saveFile } from "@gatehouse/web-kit/save-file.ts";
import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { ChevronDown, ChevronUp, Download, Layers } from "lucide-react";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";
import { PRODUCT } from "../product.ts";
import { Allowed } from "../records/allowed.tsx";

type Job = AdminApiSchemas["AdminBatchJob"];

const PAGE_SIZE = 50;
const POLL_INTERVAL_MS = 3_000;
const STATUSES = ["validating", "in_progress", "finalizing", "completed", "failed", "expired", "cancelling", "cancelled"] as const;
const TONES: Readonly<Partial<Record<Job["status"], "good" | "bad" | "warn" | "accent">>> = {
  completed: "good",
  failed: "bad",
  expired: "warn",
  cancelled: "warn",
  in_progress: "accent",
};
const spoken = (word: string) => word.replaceAll("_", " ");

/** The tenant's batch jobs with progress, cost and errors. */
export function BatchJobsPage(): ReactNode {
  const [status, setStatus] = useState("");
  const found = useInfiniteQuery({
    queryKey: ["batch-jobs", status],
    queryFn: ({ pageParam }) =>
      adminApi.call("GET /v1/admin/batch-jobs", {
        query: { page: pageParam, page_size: PAGE_SIZE, ...(status === "" ? {} : { status: status as Job["status"] }) },
      }),
    initialPageParam: 1,
    getNextPageParam: nextPage,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ jobs }) => jobs.some(({ ended_at: at }) => at === null)) === true ? POLL_INTERVAL_MS : false,
  });
  const jobs = found.data?.pages.flatMap((page) => page.jobs) ?? [];
  return (
    <PageFrame
      product={PRODUCT}
      title="Batch jobs"
      lead="Asynchronous jobs of many requests. Each line is governed and audited like a single call."
    >
      <div className="grid gap-4">
        <SelectField
          label="Status"
          value={status}
          choices={[{ value: "", label: "Any" }, ...STATUSES.map((value) => ({ value, label: spoken(value) }))]}
          onChange={({ target }) => setStatus(target.value)}
        />
        {found.isPending && <Skeleton label="Loading" />}
        {found.isError && <ErrorState error={found.error} title="The jobs could not be read" requestLabel="Request" />}
        {found.isSuccess && jobs.length === 0 && (
          <EmptyState icon={Layers} title="No batch jobs">
            Jobs that keys and people submit stand here, with their progress and cost.
          </EmptyState>
        )}
        <ul className="grid gap-3">
          {jobs.map((job) => (
            <li key={job.id}>
              <OneJob job={job} />
            </li>
          ))}
        </ul>
        <MoreButton list={found} label="More" />
      </div>
    </PageFrame>
  );
}

function OneJob({ job }: { readonly job: Job }): ReactNode {
  const [open, setOpen] = useState(false);
  const { total, completed, failed, cancelled, expired } = job.request_counts;
  const done = completed + failed + cancelled + expired;
  const progress = `${formatNumber(done)} of ${formatNumber(total)} lines`;
  const saved = useMutation({ mutationFn: () => save(job.id) });
  return (
    <Panel>
      <div className="grid gap-3">
        <p className="flex flex-wrap items-center gap-2">
          <Badge tone={TONES[job.status] ?? "neutral"}>{spoken(job.status)}</Badge>
          <span dir="auto" className="font-medium break-all">
            {job.model ?? job.description ?? job.id}
          </span>
          <time dateTime={job.created_at} className="text-sm text-muted">
            {formatDate(job.created_at)}
          </time>
          <span className="text-sm text-muted">{formatUsd(job.cost_usd)}</span>
          <Badge>{job.mode === "provider" ? "run by the provider" : "run by the gateway"}</Badge>
        </p>
        <p className="text-sm">
          {progress}
          {failed > 0 && `, ${formatNumber(failed)} failed`}
        </p>
        <progress
          aria-label={progress}
          className="h-2 w-full appearance-none overflow-hidden rounded-full [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-sunken [&::-webkit-progress-value]:bg-accent"
          max={Math.max(1, total)}
          value={done}
        />
        {job.paused_until !== null && (
          <p className="text-sm text-warn">{`Waits until ${formatDate(job.paused_until)}: ${job.error?.message ?? ""}`}</p>
        )}
        {job.error !== null && job.paused_until === null && (
          <p dir="auto" className="text-sm text-bad">
            {job.error.message}
          </p>
        )}
        <div className="flex flex-wrap gap-2">
          <Button icon={open ? ChevronUp : ChevronDown} aria-expanded={open} onClick={() => setOpen(!open)}>
            Details
          </Button>
          {completed + failed > 0 && (
            <Allowed operation="GET /v1/admin/batch-jobs/{id}/results">
              <Button icon={Download} busy={saved.isPending} onClick={() => saved.mutate()}>
                Results
              </Button>
            </Allowed>
          )}
        </div>
        <FormError error={saved.error} />
        {open && <Details id={job.id} />}
      </div>
    </Panel>
  );
}

function Details({ id }: { readonly id: string }): ReactNode {
  const found = useQuery({
    queryKey: ["batch-jobs", "one", id],
    queryFn: () => adminApi.call("GET /v1/admin/batch-jobs/{id}", { path: { id } }),
    refetchInterval: ({ state }) => (state.data?.ended_at === null ? POLL_INTERVAL_MS : false),
  });
  if (found.isPending) return <Skeleton label="Loading" lines={2} />;
  if (found.isError) return <ErrorState error={found.error} title="The job could not be read" requestLabel="Request" />;
  const job = found.data;
  return (
    <div className="grid gap-3">
      <Facts
        items={[
          ["Job", job.id],
          ["Endpoint", job.endpoint],
          ["Window", job.completion_window],
          ["Resource group", job.resource_group_id],
          ["Of", job.end_user_id === null ? `key ${job.api_key_id ?? "that is gone"}` : `person ${job.end_user_id}`],
          ["Ended", job.ended_at === null ? "not yet" : formatDate(job.ended_at)],
          ["Lines without a price", formatNumber(job.unpriced_requests)],
        ]}
      />
      {job.errors_by_kind.length > 0 && (
        <section className="grid gap-1">
          <h2 className="text-sm font-medium">Failures by kind</h2>
          <Facts items={job.errors_by_kind.map(({ code, count }) => [code, formatNumber(count)] as const)} />
        </section>
      )}
      {job.provider_batches.length > 0 && (
        <section className="grid gap-1">
          <h2 className="text-sm font-medium">Batches at the provider</h2>
          <Facts
            items={job.provider_batches.map(
              ({ id: ours, provider_batch: theirs, lines, state }) => [theirs ?? ours, `${formatNumber(lines)} lines, ${state}`] as const,
            )}
          />
        </section>
      )}
    </div>
  );
}

async function save(id: string): Promise<void> {
  const response = await adminApi.send(`/v1/admin/batch-jobs/${encodeURIComponent(id)}/results`);
  saveFile(await response.blob(), `${id}.jsonl`);
}
