import { Button } from "@gatehouse/web-kit/button.tsx";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { ConfirmDialog } from "@gatehouse/web-kit/dialog.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatDate, formatNumber, formatUsd } from "@gatehouse/web-kit/formats.ts";
import { Badge, PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { saveFile } from "@gatehouse/web-kit/save-file.ts";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { CircleStop, Download, Layers, Play } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { PortalApiSchemas } from "../api/portal-api-schemas.generated.ts";
import { portalApi } from "../portal-client.ts";
import { usePortalTexts } from "../translations.ts";
import { UploadForm } from "../upload-form.tsx";

type BatchJob = PortalApiSchemas["BatchJob"];

const JOBS = "/v1/proxy/batch/jobs";
const PAGE_SIZE = 50;
const POLL_INTERVAL_MS = 2_000;
const STATES = {
  validating: ["jobValidating", "neutral"],
  in_progress: ["jobInProgress", "accent"],
  finalizing: ["jobFinalizing", "neutral"],
  completed: ["jobCompleted", "good"],
  failed: ["jobFailedState", "bad"],
  expired: ["jobExpired", "warn"],
  cancelling: ["jobCancelling", "neutral"],
  cancelled: ["jobCancelledState", "warn"],
} as const;

/** The endpoint named by the lines; a job has only one. */
async function endpointOf(file: File): Promise<string> {
  const [first = ""] = (await file.slice(0, 65_536).text()).split("\n");
  try {
    return String((JSON.parse(first) as { url?: unknown }).url ?? "/v1/chat/completions");
  } catch {
    return "/v1/chat/completions";
  }
}

async function makeJob(file: File): Promise<void> {
  const form = new FormData();
  form.set("kind", "batch_input");
  form.set("display_name", file.name);
  form.set("file", file);
  const stored = (await (await portalApi.send("/v1/proxy/files", { method: "POST", body: form })).json()) as PortalApiSchemas["File"];
  await portalApi.send("/v1/proxy/llm/batches", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ input_file_id: stored.id, endpoint: await endpointOf(file), completion_window: "24h" }),
  });
}

async function save(fileId: string, name: string): Promise<void> {
  const response = await portalApi.send(`/v1/proxy/files/${encodeURIComponent(fileId)}/content`);
  saveFile(await response.blob(), name);
}

export function JobsPage(): ReactNode {
  const t = usePortalTexts();
  const found = useInfiniteQuery({
    queryKey: ["jobs"],
    async queryFn({ pageParam }) {
      const response = await portalApi.send(`${JOBS}?page=${pageParam}&page_size=${PAGE_SIZE}`);
      return (await response.json()) as PortalApiSchemas["BatchJobPage"];
    },
    initialPageParam: 1,
    getNextPageParam: (last) => (last.page * last.page_size < last.total ? last.page + 1 : undefined),
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ jobs }) => jobs.some(({ ended_at: at }) => at === null)) === true ? POLL_INTERVAL_MS : false,
  });
  const jobs = found.data?.pages.flatMap((page) => page.jobs) ?? [];
  return (
    <PageFrame product={t("product")} title={t("navJobs")} lead={t("jobsLead")} width="reading">
      <div className="grid gap-4">
        <UploadForm
          label={t("chooseJobFile")}
          accept=".jsonl,.ndjson,.txt"
          action={t("makeJob")}
          icon={Play}
          upload={makeJob}
          queryKey="jobs"
          done={t("jobMade")}
        />
        {found.isPending && <Skeleton label={t("loading")} />}
        {found.isError && <ErrorState error={found.error} title={t("unreadable")} requestLabel={t("request")} />}
        {found.isSuccess && jobs.length === 0 && (
          <EmptyState icon={Layers} title={t("noJobsTitle")}>
            {t("noJobs")}
          </EmptyState>
        )}
        <ul className="grid gap-3">
          {jobs.map((job) => (
            <li key={job.id}>
              <OneJob job={job} />
            </li>
          ))}
        </ul>
        <MoreButton list={found} label={t("more")} />
      </div>
    </PageFrame>
  );
}

function OneJob({ job }: { readonly job: BatchJob }): ReactNode {
  const t = usePortalTexts();
  const [state, tone] = STATES[job.status];
  const { total, completed, failed, cancelled, expired } = job.request_counts;
  const done = completed + failed + cancelled + expired;
  const progress = t("jobProgress", { done: formatNumber(done), total: formatNumber(total) });
  const name = job.description ?? job.id;
  const saved = useMutation({ mutationFn: ({ id, as }: { id: string; as: string }) => save(id, as) });
  return (
    <Panel>
      <div className="grid gap-3">
        <p className="flex flex-wrap items-center gap-2">
          <Badge tone={tone}>{t(state)}</Badge>
          <span dir="auto" className="font-medium break-all">
            {job.model ?? job.description ?? job.id}
          </span>
          <time dateTime={job.created_at} className="text-sm text-muted">
            {formatDate(job.created_at)}
          </time>
          <span className="text-sm text-muted">{formatUsd(job.cost_usd)}</span>
        </p>
        <p className="text-sm">
          {progress}
          {failed > 0 && `, ${t("jobFailed", { count: formatNumber(failed) })}`}
        </p>
        <progress
          aria-label={progress}
          className="h-2 w-full appearance-none overflow-hidden rounded-full [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-sunken [&::-webkit-progress-value]:bg-accent"
          max={Math.max(1, total)}
          value={done}
        />
        {job.paused_until !== null && (
          <p className="text-sm text-warn">{t("jobPaused", { when: formatDate(job.paused_until), why: job.error?.message ?? "" })}</p>
        )}
        {job.error !== null && job.paused_until === null && (
          <p dir="auto" className="text-sm text-bad">
            {job.error.message}
          </p>
        )}
        <div className="flex flex-wrap gap-2">
          {job.output_file_id !== null && (
            <Button icon={Download} onClick={() => saved.mutate({ id: job.output_file_id ?? "", as: `${job.id}.jsonl` })}>
              {t("jobResults")}
            </Button>
          )}
          {job.error_file_id !== null && (
            <Button icon={Download} onClick={() => saved.mutate({ id: job.error_file_id ?? "", as: `${job.id}-errors.jsonl` })}>
              {t("jobErrors")}
            </Button>
          )}
          {job.status === "in_progress" && <CancelButton id={job.id} name={name} />}
        </div>
        <FormError error={saved.error} />
      </div>
    </Panel>
  );
}

function CancelButton({ id, name }: { readonly id: string; readonly name: string }): ReactNode {
  const t = usePortalTexts();
  const queries = useQueryClient();
  const [asking, setAsking] = useState(false);
  const cancelled = useMutation({
    mutationFn: () => portalApi.send(`${JOBS}/${encodeURIComponent(id)}/cancel`, { method: "POST" }),
    async onSuccess() {
      setAsking(false);
      await queries.invalidateQueries({ queryKey: ["jobs"] });
      showToast(t("jobCancelled"));
    },
  });
  return (
    <>
      <Button icon={CircleStop} onClick={() => setAsking(true)}>
        {t("cancelJob")}
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={t("cancelJobTitle")}
        description={name}
        closeLabel={t("cancel")}
        confirmLabel={t("cancelJob")}
        busy={cancelled.isPending}
        onConfirm={() => cancelled.mutate()}
      >
        <FormError error={cancelled.error} />
      </ConfirmDialog>
    </>
  );
}
