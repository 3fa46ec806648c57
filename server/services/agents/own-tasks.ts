import type { AgentTaskRow, TaskScope } from "../../directory/agents/tasks.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { isStorableText, storableText } from "../../kernel/text/storable.ts";
import type { Call } from "../../road/call.ts";
import type { AgentRoute } from "../../road/target.ts";
import { stateOf, statesAround } from "../../wire/a2a/shapes.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import type { AgentParts } from "./agent-parts.ts";
import type { AgentRequest } from "./agent-request.ts";

/** The tasks that a call may see: those of its person, or of its API key if there is none. */
export function taskScope(call: Call, { agent }: AgentRoute): TaskScope & { readonly ownerKind: "user" | "api_key" } {
  const { identity } = call;
  if (identity === null) throw new Error("a call to an agent was not admitted");
  return {
    tenantId: identity.tenantId,
    agentId: agent.id,
    ownerId: identity.userId ?? identity.credentialId,
    ownerKind: identity.userId === null ? "api_key" : "user",
  };
}

/** The caller's own task; a task of another owner is refused as not found. */
export async function ownTaskOf(
  call: Call,
  route: AgentRoute,
  id: unknown,
  { tasks }: Pick<AgentParts, "tasks">,
): Promise<AgentTaskRow | Refusal> {
  const row = typeof id === "string" && isStorableText(id) ? await tasks.find(taskScope(call, route), id) : undefined;
  return row ?? refuse("agent_task_not_found");
}

/** When the task reached its current status, or `unsaid` if the agent gives no time. */
export function statusTime(task: JsonObject, now: number, unsaid = now): Date {
  const reportedAt = isObject(task.status) && typeof task.status.timestamp === "string" ? Date.parse(task.status.timestamp) : Number.NaN;
  // A future time from an agent whose clock is ahead would make later updates appear outdated.
  return new Date(Number.isNaN(reportedAt) ? unsaid : Math.min(reportedAt, now));
}

/** What is stored of a task: everything shown to its owner, or no content if the tenant stores no bodies. */
function keptTask(call: Call, task: JsonObject): string | null {
  if (call.tenant?.storeBodies === "none") return null;
  return storableText(JSON.stringify(task));
}

/** Stores the current state of the caller's task. Returns a refusal if the agent gave the same task to another caller before. */
export async function keepTask(
  call: Call,
  route: AgentRoute,
  request: AgentRequest,
  task: JsonObject,
  { tasks, clock }: AgentParts,
): Promise<Refusal | null> {
  const scope = taskScope(call, route);
  const now = clock.now();
  const state = stateOf(task);
  const row = {
    tenant_id: scope.tenantId,
    agent_id: scope.agentId,
    id: String(task.id),
    context_id: String(task.contextId),
    owner_kind: scope.ownerKind,
    owner_id: scope.ownerId,
    resource_group_id: String(call.row.resource_group_id),
    state,
    status_at: statusTime(task, now),
    task: keptTask(call, task),
    root_task_id: String(call.row.root_task_id),
    depth: Number(call.row.delegation_depth ?? 0),
    protocol_version: request.version,
    request_id: call.id,
    created_at: new Date(now),
    updated_at: new Date(now),
  };
  const kept = await tasks.put(row, statesAround(state));
  return kept ? null : refuse("agent_invalid_response", undefined, { reason: "the agent names a task that it gave to another caller" });
}

/** Updates a task that was stored before. Returns a refusal if it no longer exists: a task erased or pruned meanwhile is not recreated. */
export async function keepKnownTask(
  call: Call,
  route: AgentRoute,
  request: AgentRequest,
  task: JsonObject,
  parts: AgentParts,
): Promise<Refusal | null> {
  const row = await ownTaskOf(call, route, task.id, parts);
  return isRefusal(row) ? row : keepTask(call, route, request, task, parts);
}

/** The task as stored, without asking the agent. */
export function knownTask(row: AgentTaskRow): JsonObject {
  if (row.task !== null) return JSON.parse(row.task) as JsonObject;
  return { id: row.id, contextId: row.context_id, status: { state: row.state, timestamp: row.status_at.toISOString() } };
}
