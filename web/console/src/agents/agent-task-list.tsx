import { formatDate } from "@gatehouse/web-kit/formats.ts";
import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { nextPage } from "@gatehouse/web-kit/paged-list.ts";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";

const TONES: Readonly<Record<string, "good" | "bad" | "warn" | "accent">> = {
  TASK_STATE_COMPLETED: "good",
  TASK_STATE_FAILED: "bad",
  TASK_STATE_REJECTED: "bad",
  TASK_STATE_INPUT_REQUIRED: "warn",
  TASK_STATE_AUTH_REQUIRED: "warn",
  TASK_STATE_WORKING: "accent",
};

export function TaskState({ state }: { readonly state: string }): ReactNode {
  return (
    <Badge tone={TONES[state] ?? "neutral"}>
      {state
        .replace(/^TASK_STATE_/, "")
        .replaceAll("_", " ")
        .toLowerCase()}
    </Badge>
  );
}

/** The agent's tasks, newest first. */
export function AgentTaskList({ id }: { readonly id: string }): ReactNode {
  const found = useInfiniteQuery({
    queryKey: ["agent-tasks", id],
    queryFn: ({ pageParam: page }) => adminApi.call("GET /v1/admin/agent-tasks", { query: { agent_id: id, page, page_size: 50 } }),
    initialPageParam: 1,
    getNextPageParam: nextPage,
  });
  const tasks = found.data?.pages.flatMap((page) => page.tasks) ?? [];
  return (
    <Panel title="Tasks">
      {found.isPending && <Skeleton label="Loading" lines={2} />}
      {found.isError && <ErrorState error={found.error} title="The tasks could not be read" requestLabel="Request" />}
      {found.isSuccess && tasks.length === 0 && <p className="text-muted">Nobody gave it anything to do yet.</p>}
      <ul className="grid gap-2">
        {tasks.map((task) => (
          <li key={task.id} className="flex flex-wrap items-center gap-2">
            <TaskState state={task.state} />
            <Link to="/agent-tasks/$agent/$task" params={{ agent: id, task: task.id }} className="break-all text-accent underline">
              {task.id}
            </Link>
            <time dateTime={task.created_at} className="text-sm text-muted">
              {formatDate(task.created_at)}
            </time>
            <span className="text-sm text-muted">
              {task.owner_kind === "user" ? "of a person" : "of an API key"}, by A2A {task.protocol_version}
              {task.depth > 0 && `, at depth ${task.depth}`}
            </span>
          </li>
        ))}
      </ul>
      <MoreButton list={found} label="Show earlier tasks" />
    </Panel>
  );
}
