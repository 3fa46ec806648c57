import type { AgentTaskRow } from "../../directory/agents/tasks.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { isStorableText, isStorableTime } from "../../kernel/text/storable.ts";
import type { Answer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import type { AgentRoute } from "../../road/target.ts";
import type { AgentOperation } from "../../wire/a2a/agent-requests.ts";
import { withHistory } from "../../wire/a2a/folded-task.ts";
import { TASK_STATES, TERMINAL_STATES } from "../../wire/a2a/shapes.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import type { AgentParts } from "./agent-parts.ts";
import type { AgentRequest } from "./agent-request.ts";
import { CallExtensions } from "./call-extensions.ts";
import { inspectEvent } from "./inspect-event.ts";
import { contextNames, OwnNames } from "./own-context.ts";
import { keepKnownTask, knownTask, ownTaskOf, taskScope } from "./own-tasks.ts";
import { queueReceivedNotifications } from "./push-configs.ts";
import { ReportedCost } from "./reported-cost.ts";
import { readTaskPageToken, taskPageTokenOf } from "./task-page-token.ts";
import { withoutContent } from "./without-content.ts";
import { writeAnswer } from "./write-answer.ts";

const DEFAULT_PAGE = 50;
const MAX_PAGE_SIZE = 100;
/** Concurrent requests to agents for a list of tasks. */
const AT_ONCE = 8;

const lengthOf = (value: unknown): number | null => (typeof value === "number" ? value : null);

/** Asks the agent about the caller's task and stores the result. */
async function sendRequest(
  call: Call,
  route: AgentRoute,
  request: AgentRequest,
  row: AgentTaskRow,
  { operation, params }: { readonly operation: AgentOperation; readonly params: JsonObject },
  parts: AgentParts,
): Promise<JsonObject | Refusal> {
  const passage = parts.outlet.look(call);
  const { headers, noteAnswered: hear } = new CallExtensions(call, route);
  const event = await passage.upstream.ask({ agent: route.agent, operation, params, headers, hear, abort: call.abort });
  if (isRefusal(event)) return event;
  await new ReportedCost(call, route, true, parts).take(event);
  const names = new OwnNames(call, route, await contextNames(call, route, row.context_id, parts), row.id, parts);
  const refusal = (await names.take(event)) ?? (await inspectEvent(call, parts.gates, event));
  if (refusal !== null) return refusal;
  const others = await keepKnownTask(call, route, request, event.value, parts);
  if (others !== null) return others;
  await queueReceivedNotifications(call, row, event, parts);
  return event.value;
}

/**
 * The task as its agent reports it now. An ended task that the agent has forgotten, or that cannot be asked for, is returned as last seen.
 */
export async function getTask(call: Call, route: AgentRoute, request: AgentRequest, parts: AgentParts): Promise<Answer | Refusal> {
  const row = await ownTaskOf(call, route, request.params.id, parts);
  if (isRefusal(row)) return row;
  const length = lengthOf(request.params.historyLength);
  const unrecorded = parts.outlet.depart(call, route.agent.reached?.endpoint ?? "", null);
  if (unrecorded !== null) return unrecorded;
  const found = await sendRequest(
    call,
    route,
    request,
    row,
    // The full history is requested because it is stored; `historyLength` only limits the answer.
    { operation: "GetTask", params: { id: row.id } },
    parts,
  );
  if (isRefusal(found) && !mayTellKnown(found, row)) return found;
  const task = withHistory(isRefusal(found) ? knownTask(row) : found, length);
  const refusal = isRefusal(found) ? await inspectEvent(call, parts.gates, { kind: "task", value: task }) : null;
  if (refusal !== null) return refusal;
  return writeAnswer(() => request.writer.whole({ kind: "task", task }));
}

const AWAY = new Set([
  "agent_task_not_found",
  "agent_undiscovered",
  "upstream_unreachable",
  "upstream_interrupted",
  "upstream_timeout",
  "upstream_error",
  "upstream_overloaded",
]);

const mayTellKnown = ({ code }: Refusal, { state, task }: AgentTaskRow) => AWAY.has(code) && TERMINAL_STATES.has(state) && task !== null;

export async function cancelTask(call: Call, route: AgentRoute, request: AgentRequest, parts: AgentParts): Promise<Answer | Refusal> {
  const row = await ownTaskOf(call, route, request.params.id, parts);
  if (isRefusal(row)) return row;
  const { metadata } = request.params;
  const params = { id: row.id, ...(metadata === undefined ? {} : { metadata }) };
  const unrecorded = parts.outlet.depart(call, route.agent.reached?.endpoint ?? "", JSON.stringify(params));
  if (unrecorded !== null) return unrecorded;
  const task = await sendRequest(call, route, request, row, { operation: "CancelTask", params }, parts);
  return isRefusal(task) ? task : writeAnswer(() => request.writer.whole({ kind: "task", task }));
}

/** Lists the caller's tasks, the latest status first. Tasks that have not ended are fetched from the agent. */
export async function listTasks(call: Call, route: AgentRoute, request: AgentRequest, parts: AgentParts): Promise<Answer | Refusal> {
  const {
    contextId,
    status,
    pageSize = DEFAULT_PAGE,
    pageToken = "",
    historyLength,
    statusTimestampAfter,
    includeArtifacts,
  } = request.params;
  const wrong = (field: string, message: string) => refuse("agent_invalid_params", undefined, { fields: [{ field, message }] });
  if (typeof pageSize !== "number" || !Number.isInteger(pageSize) || pageSize < 1 || pageSize > MAX_PAGE_SIZE)
    return wrong("pageSize", `must be a whole number from 1 to ${MAX_PAGE_SIZE}`);
  if (historyLength !== undefined && (typeof historyLength !== "number" || !Number.isInteger(historyLength) || historyLength < 0))
    return wrong("historyLength", "must be a whole number from 0");
  if (includeArtifacts !== undefined && typeof includeArtifacts !== "boolean") return wrong("includeArtifacts", "must be true or false");
  const after = pageToken === "" ? null : readTaskPageToken(String(pageToken));
  if (pageToken !== "" && after === null) return wrong("pageToken", "is none that was given out");
  if (status !== undefined && (typeof status !== "string" || !TASK_STATES.has(status))) return wrong("status", "is no state of a task");
  if (contextId !== undefined && (typeof contextId !== "string" || !isStorableText(contextId))) return wrong("contextId", "is none");
  const since =
    statusTimestampAfter === undefined ? null : new Date(typeof statusTimestampAfter === "string" ? statusTimestampAfter : Number.NaN);
  if (since !== null && !isStorableTime(since)) return wrong("statusTimestampAfter", "must be a time as ISO 8601 has it");
  const { rows, total } = await parts.tasks.list(taskScope(call, route), {
    contextId: contextId === undefined ? null : String(contextId),
    state: status === undefined || status === "TASK_STATE_UNSPECIFIED" ? null : String(status),
    since,
    after,
    limit: pageSize + 1,
  });
  const page = rows.slice(0, pageSize);
  const unrecorded = parts.outlet.depart(call, route.agent.reached?.endpoint ?? "", null);
  if (unrecorded !== null) return unrecorded;
  const shown = (task: JsonObject) => shownInList(withHistory(task, lengthOf(historyLength)), includeArtifacts === true);
  const tasks: JsonObject[] = [];
  for (let at = 0; at < page.length; at += AT_ONCE)
    tasks.push(...(await Promise.all(page.slice(at, at + AT_ONCE).map((row) => current(call, route, request, row, shown, parts)))));
  const last = page.at(-1);
  const listing: JsonObject = {
    tasks,
    nextPageToken: rows.length > pageSize && last !== undefined ? taskPageTokenOf(last) : "",
    pageSize,
    totalSize: total,
  };
  return writeAnswer(() => request.writer.whole({ kind: "tasks", listing }));
}

/** The task's current state, reduced by `shown`. A stored task is inspected again, and returned without content if it is refused. */
async function current(
  call: Call,
  route: AgentRoute,
  request: AgentRequest,
  row: AgentTaskRow,
  shown: (task: JsonObject) => JsonObject,
  parts: AgentParts,
): Promise<JsonObject> {
  if (!TERMINAL_STATES.has(row.state) || row.task === null) {
    const found = await sendRequest(call, route, request, row, { operation: "GetTask", params: { id: row.id } }, parts);
    if (!isRefusal(found)) return shown(found);
  }
  const known = shown(knownTask(row));
  const refusal = await inspectEvent(call, parts.gates, { kind: "task", value: known });
  return refusal === null ? known : withoutContent(known);
}

function shownInList(task: JsonObject, withArtifacts: boolean): JsonObject {
  if (withArtifacts) return task;
  const { artifacts: _artifacts, ...rest } = task;
  return rest;
}
