import { Button } from "@gatehouse/web-kit/button.tsx";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { ConfirmDialog } from "@gatehouse/web-kit/dialog.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatDate } from "@gatehouse/web-kit/formats.ts";
import { Badge, PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { EmptyState, ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bot, CircleStop } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { PortalApiSchemas } from "../api/portal-api-schemas.generated.ts";
import { portalApi } from "../portal-client.ts";
import { textsOfTask } from "../tasks/task-texts.ts";
import { usePortalTexts } from "../translations.ts";

type AgentTask = PortalApiSchemas["AgentTask"];

const PAGE_SIZE = 30;
const POLL_INTERVAL_MS = 3_000;

const STATES = {
  TASK_STATE_SUBMITTED: ["taskSubmitted", "neutral"],
  TASK_STATE_WORKING: ["taskWorking", "accent"],
  TASK_STATE_COMPLETED: ["taskCompleted", "good"],
  TASK_STATE_FAILED: ["taskFailed", "bad"],
  TASK_STATE_CANCELED: ["taskCanceled", "neutral"],
  TASK_STATE_REJECTED: ["taskRejected", "bad"],
  TASK_STATE_INPUT_REQUIRED: ["taskInputRequired", "warn"],
  TASK_STATE_AUTH_REQUIRED: ["taskAuthRequired", "warn"],
} as const;
const ENDED: ReadonlySet<string> = new Set(["TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_REJECTED"]);

/** The task's path at the gateway. */
const addressOf = ({ tenant_id: tenant, card_name: card, id }: AgentTask) =>
  `/a2a/${encodeURIComponent(tenant)}/${encodeURIComponent(card)}/tasks/${encodeURIComponent(id)}`;

/** The person's agent tasks: their state, messages, and a way to cancel them. */
export function TasksPage(): ReactNode {
  const t = usePortalTexts();
  const found = useInfiniteQuery({
    queryKey: ["agent-tasks"],
    queryFn: ({ pageParam }) => portalApi.call("GET /v1/portal/agent-tasks", { query: { page: pageParam, page_size: PAGE_SIZE } }),
    initialPageParam: 1,
    getNextPageParam: (last) => (last.page * last.page_size < last.total ? last.page + 1 : undefined),
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ tasks }) => tasks.some((task) => !ENDED.has(task.state))) === true ? POLL_INTERVAL_MS : false,
  });
  const tasks = found.data?.pages.flatMap((page) => page.tasks) ?? [];
  return (
    <PageFrame product={t("product")} title={t("navTasks")} lead={t("tasksLead")} width="reading">
      <div className="grid gap-4">
        <p>
          <Link to="/approvals" className="text-accent underline">
            {t("taskApprovals")}
          </Link>
        </p>
        {found.isPending && <Skeleton label={t("loading")} />}
        {found.isError && <ErrorState error={found.error} title={t("unreadable")} requestLabel={t("request")} />}
        {found.isSuccess && tasks.length === 0 && (
          <EmptyState icon={Bot} title={t("noTasksTitle")}>
            {t("noTasks")}
          </EmptyState>
        )}
        <ul className="grid gap-3">
          {tasks.map((task) => (
            <li key={`${task.agent_id} ${task.id}`}>
              <OneTask task={task} />
            </li>
          ))}
        </ul>
        <MoreButton list={found} label={t("more")} />
      </div>
    </PageFrame>
  );
}

function State({ state }: { readonly state: string }): ReactNode {
  const t = usePortalTexts();
  const known = Object.hasOwn(STATES, state) ? STATES[state as keyof typeof STATES] : undefined;
  return known === undefined ? <Badge>{state}</Badge> : <Badge tone={known[1]}>{t(known[0])}</Badge>;
}

function OneTask({ task }: { readonly task: AgentTask }): ReactNode {
  const t = usePortalTexts();
  const [shown, setShown] = useState(false);
  return (
    <Panel>
      <div className="grid gap-3">
        <p className="flex flex-wrap items-center gap-2">
          <State state={task.state} />
          <span dir="auto" className="font-medium break-all">
            {task.card_name}
          </span>
          <time dateTime={task.created_at} className="text-sm text-muted">
            {formatDate(task.created_at)}
          </time>
        </p>
        <div className="flex flex-wrap gap-2">
          <Button aria-expanded={shown} onClick={() => setShown(!shown)}>
            {t("taskShow")}
          </Button>
          {!ENDED.has(task.state) && <CancelButton task={task} />}
        </div>
        {shown && <TaskLife task={task} />}
      </div>
    </Panel>
  );
}

function TaskLife({ task }: { readonly task: AgentTask }): ReactNode {
  const t = usePortalTexts();
  const read = useQuery({
    // The list is polled while the task works; each change refetches the task.
    queryKey: ["agent-tasks", "one", task.agent_id, task.id, task.updated_at],
    async queryFn() {
      // The gateway hears nothing of a task without an open stream, so the agent is asked for its state.
      if (!ENDED.has(task.state)) await portalApi.send(addressOf(task)).catch(() => undefined);
      return portalApi.call("GET /v1/portal/agent-tasks/{agent_id}/{task_id}", { path: { agent_id: task.agent_id, task_id: task.id } });
    },
    placeholderData: (before) => before,
  });
  if (read.isPending) return <Skeleton label={t("loading")} />;
  if (read.isError) return <ErrorState error={read.error} title={t("unreadable")} requestLabel={t("request")} />;
  const messages = textsOfTask(read.data.task);
  return (
    <div className="grid gap-3 border-t border-line pt-3">
      <ol className="grid gap-1 text-sm">
        {read.data.states.map(({ state, at }) => (
          <li key={`${at} ${state}`} className="flex flex-wrap items-center gap-2">
            <time dateTime={at} className="text-muted">
              {formatDate(at)}
            </time>
            <State state={state} />
          </li>
        ))}
      </ol>
      {messages.length === 0 && <p className="text-sm text-muted">{t("taskNothingSaid")}</p>}
      <ul className="grid gap-2">
        {messages.map(({ key, by, text }) => (
          <li key={key}>
            <p className="text-sm text-muted">{by === "user" ? t("taskYou") : by === "artifact" ? t("taskResult") : task.card_name}</p>
            <p dir="auto" className="break-words whitespace-pre-wrap">
              {text}
            </p>
          </li>
        ))}
      </ul>
    </div>
  );
}

function CancelButton({ task }: { readonly task: AgentTask }): ReactNode {
  const t = usePortalTexts();
  const queries = useQueryClient();
  const [asking, setAsking] = useState(false);
  const cancelled = useMutation({
    mutationFn: () => portalApi.send(`${addressOf(task)}:cancel`, { method: "POST", headers: { "a2a-version": "1.0" } }),
    async onSuccess() {
      setAsking(false);
      showToast(t("taskCancelled"));
    },
    // The agent's state is authoritative, whether or not the task was cancelled.
    onSettled: () => queries.invalidateQueries({ queryKey: ["agent-tasks"] }),
  });
  return (
    <>
      <Button icon={CircleStop} onClick={() => setAsking(true)}>
        {t("cancelTask")}
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={t("cancelTaskTitle")}
        description={task.card_name}
        closeLabel={t("cancel")}
        confirmLabel={t("cancelTask")}
        busy={cancelled.isPending}
        onConfirm={() => cancelled.mutate()}
      >
        <FormError error={cancelled.error} />
      </ConfirmDialog>
    </>
  );
}
