import { formatDate, formatNumber } from "@gatehouse/web-kit/formats.ts";
import { Badge, Facts, PageFrame, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import { TaskState } from "../agents/agent-task-list.tsx";
import { type LifeStep, lifeOf } from "../agents/life-of-task.ts";
import { PRODUCT } from "../product.ts";

const MAX_ROWS = 200;

/** A task's states and the calls of its run, in chronological order. */
export function AgentTaskPage(): ReactNode {
  const { agent = "", task = "" } = useParams({ strict: false });
  const read = useQuery({
    queryKey: ["agent-tasks", agent, task],
    queryFn: () => adminApi.call("GET /v1/admin/agents/{id}/tasks/{task_id}", { path: { id: agent, task_id: task } }),
  });
  const root = read.data?.root_task_id ?? "";
  const rows = useQuery({
    queryKey: ["agent-tasks", agent, task, "rows", root],
    queryFn: () =>
      adminApi.call("POST /v1/admin/proxy-logs/query", {
        body: { filters: { root_task_id: root }, order: "asc", page: 1, page_size: MAX_ROWS },
      }),
    enabled: root !== "",
  });
  return (
    <PageFrame
      product={PRODUCT}
      title="Task of an agent"
      lead={
        <Link to="/manage/$kind/$id" params={{ kind: "agents", id: agent }} className="text-accent underline">
          {read.data?.card_name ?? "The agent"}
        </Link>
      }
    >
      {read.isPending && <Skeleton label="Loading" lines={6} />}
      {read.isError && <ErrorState error={read.error} title="The task could not be read" requestLabel="Request" />}
      {read.isSuccess && (
        <div className="grid gap-4">
          <Panel>
            <Facts
              items={[
                ["State", <TaskState key="state" state={read.data.state} />],
                ["Task", <code key="task">{read.data.id}</code>],
                ["Context", <code key="context">{read.data.context_id}</code>],
                ["Begun by", `${read.data.owner_kind === "user" ? "the person" : "the API key"} ${read.data.owner_id}`],
                ["Dialect of who began it", `A2A ${read.data.protocol_version}`],
                ["Depth of delegation", formatNumber(read.data.depth)],
                ["Who is told of it", formatNumber(read.data.push_configs)],
                [
                  "Run",
                  <Link key="run" to="/runs/$id" params={{ id: read.data.root_task_id }} className="break-all text-accent underline">
                    {read.data.root_task_id}
                  </Link>,
                ],
              ]}
            />
          </Panel>
          <Panel title="Lifecycle">
            {rows.isError && <ErrorState error={rows.error} title="The calls of its run could not be read" requestLabel="Request" />}
            <ol className="grid gap-3 border-l border-line pl-4">
              {lifeOf(read.data, rows.data?.rows ?? []).map((step) => (
                <Step key={step.key} step={step} />
              ))}
            </ol>
          </Panel>
          {read.data.task !== null && (
            <Panel title="As it was last seen">
              <pre tabIndex={0} className="max-h-96 overflow-auto text-sm whitespace-pre-wrap">
                {JSON.stringify(read.data.task, null, 2)}
              </pre>
            </Panel>
          )}
        </div>
      )}
    </PageFrame>
  );
}

function Step({ step }: { readonly step: LifeStep }): ReactNode {
  return (
    <li className="flex flex-wrap items-center gap-2">
      <time dateTime={step.at} className="text-sm text-muted">
        {formatDate(step.at)}
      </time>
      {step.kind === "state" ? (
        <TaskState state={step.state} />
      ) : (
        <>
          <Link to="/audit" search={{ where: { id: step.rowId } } as never} className="text-accent underline">
            {step.what}
          </Link>
          <span className="text-sm text-muted">{formatNumber(step.durationMs)} ms</span>
          {!step.success && <Badge tone="bad">{step.error}</Badge>}
          {step.decision !== null && <Badge>{step.decision}</Badge>}
        </>
      )}
    </li>
  );
}
