import { agentTask, agentTaskQuery } from "@gatehouse/contracts/agents";
import { listOf } from "@gatehouse/contracts/conventions";
import { listAgentTasks, readAgentTask } from "../../directory/agents/agent-tasks.ts";
import { portalOperation, type PortalRoute } from "./portal-operation.ts";

const PATH = "/v1/portal/agent-tasks";
const DEFAULT_SIZE = 50;
const agentTaskPage = listOf("tasks", agentTask);

/** A person's own tasks at agents. */
export const agentTaskRoutes: readonly PortalRoute[] = [
  portalOperation({
    method: "GET",
    path: PATH,
    name: "agent_tasks",
    summary: "The user's tasks at agents, newest first",
    answer: { status: 200, schema: agentTaskPage },
    query: agentTaskQuery,
    async run({ services, who, query }) {
      const size = query.page_size ?? query.limit ?? DEFAULT_SIZE;
      const page = { limit: size, offset: query.offset ?? ((query.page ?? 1) - 1) * size };
      const { items, total } = await listAgentTasks(services.directory, who.tenantId, query, who.userId, page);
      return { tasks: items, total, page: Math.floor(page.offset / size) + 1, page_size: size };
    },
  }),
  portalOperation({
    method: "GET",
    path: `${PATH}/:agent_id/:task_id`,
    name: "agent_task",
    summary: "Retrieve a task with its messages",
    answer: { status: 200, schema: agentTask },
    run: ({ services, who, params }) =>
      readAgentTask(services.directory, who.tenantId, params.agent_id ?? "", params.task_id ?? "", {
        ownerId: who.userId,
        withContent: true,
      }),
  }),
];
