import type { AgentTaskRow, TaskScope } from "../../directory/agents/tasks.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { isStorableText, storableText } from "../../kernel/text/storable.ts";
import type { Call } from "../../road/call.ts";
import type { AgentRoute } from "../../road/target.ts";
import { stateOf, statesAround } from "../../wire/a2a/shapes.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import type { AgentParts } from "./agent-parts.ts";
import type { AgentRequest } from "./agent-request.ts";

/** The tasks a call may see: those of the person behind it, else of its key. */
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

/** A task of the caller's own; one of somebody else's is not there. */
export async function ownTaskOf(
  call: Call,
  route: AgentRoute,
  id: unknown,
  { tasks }: Pick<AgentParts, "tasks">,
): Promise<AgentTaskRow | Refusal> {
  const row = typeof id === "string" && isStorableText(id) ? await tasks.find(taskScope(call, route), id) : undefined;
  return row ?? refuse("agent_task_not_found");
}

/** When the status a task is in was reached; `unsaid`, where the agent does not say. */
export function statusTime(task: JsonObject, now: number, unsaid = now): Date {
  const told = isObject(task.status) && typeof task.status.timestamp === "string" ? Date.parse(task.status.timestamp) : Number.NaN;
  // An agent whose clock is ahead must not keep what comes later from being written.
  return new Date(Number.isNaN(told) ? unsaid : Math.min(told, now));
}

/** What is kept of a task: all its owner was shown, or where the tenant stores no bodies only that it is there. */
function keptTask(call: Call, task: JsonObject): string | null {
  if (call.tenant?.storeBodies === "none") return null;
  return storableText(JSON.stringify(task));
}

/** Writes a task of the caller's as it stands now. A refusal where the agent gave it to somebody else before. */
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

/**
 * Writes a task that was written down before as it stands now. A refusal where it is not there any more: one that was erased or
 * forgotten meanwhile is not written anew.
 */
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

/** A task as far as it is known without asking its agent. */
export function knownTask(row: AgentTaskRow): JsonObject {
  if (row.task !== null) return JSON.parse(row.task) as JsonObject;
  return { id: row.id, contextId: row.context_id, status: { state: row.state, timestamp: row.status_at.toISOString() } };
}
