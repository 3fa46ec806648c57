import type { AgentTaskRow } from "../../directory/agents/tasks.ts";
import { type ErrorCode, isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { heldRefusal } from "../../road/policy/approval-required.ts";
import type { Action } from "../../road/action.ts";
import type { Call } from "../../road/call.ts";
import type { Passage } from "../../road/outlet.ts";
import type { AgentRoute } from "../../road/target.ts";
import type { AgentUpstream } from "../../upstreams/agents/agent-client.ts";
import { PartSlots } from "../../wire/a2a/part-slots.ts";
import { present } from "../../wire/a2a/v03-parts.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import type { AgentParts } from "./agent-parts.ts";
import { noteUnreadable } from "./inspect-event.ts";
import { contextNames, OwnNames } from "./own-context.ts";
import { knownTask, ownTaskOf } from "./own-tasks.ts";
import { refusedPushConfig } from "./push-configs.ts";

/** A message that may be sent to its agent, with the caller's names for its task and context. */
export interface PreparedMessage {
  readonly passage: Passage<AgentUpstream>;
  /** The parameters as sent to the agent. */
  readonly params: JsonObject;
  readonly names: OwnNames;
  /** The stored task that the message continues; null if it begins one. */
  readonly before: JsonObject | null;
  /** The push configuration for the task that the message begins or continues. */
  readonly pushConfig: JsonObject | null;
  readonly historyLength: number | null;
  /** To be called with a refusal received instead of an answer; returns that refusal. */
  readonly refused: (refusal: Refusal) => Promise<Refusal>;
}

/** Error codes which show that the agent never received the message; so do the agent's own errors, except an unreadable answer. */
const NOT_TAKEN: ReadonlySet<ErrorCode> = new Set([
  "upstream_unreachable",
  "upstream_auth_failed",
  "upstream_address_denied",
  "upstream_overloaded",
  "audit_unavailable",
]);

function isNotTaken({ code }: Refusal, { abort }: Call): boolean {
  // When the caller disconnects, the aborted exchange looks like an unreachable agent.
  if (code === "upstream_unreachable" && abort.signal.aborted) return false;
  return NOT_TAKEN.has(code) || (code.startsWith("agent_") && code !== "agent_invalid_response");
}

/** Resolves the task and context that a message continues, and runs the gates that decide whether it may be sent. */
export async function prepareMessage(
  call: Call,
  route: AgentRoute,
  params: JsonObject,
  parts: AgentParts,
): Promise<PreparedMessage | Refusal> {
  const message = params.message as JsonObject;
  const { taskId, referenceTaskIds } = message;
  // The agent is asked for the full history, because it is stored; `historyLength` only limits the answer.
  const { taskPushNotificationConfig, historyLength, ...configuration } = isObject(params.configuration) ? params.configuration : {};
  const pushConfig = isObject(taskPushNotificationConfig) ? taskPushNotificationConfig : null;
  let continuedTask: AgentTaskRow | null = null;
  let contextId = typeof message.contextId === "string" ? message.contextId : null;
  if (taskId !== undefined) {
    const task = await ownTaskOf(call, route, taskId, parts);
    if (isRefusal(task)) return task;
    if (contextId !== null && contextId !== task.context_id)
      return refuse("agent_invalid_params", undefined, { fields: [{ field: "message.contextId", message: "is not that of the task" }] });
    contextId = task.context_id;
    continuedTask = task;
  }
  for (const id of Array.isArray(referenceTaskIds) ? referenceTaskIds : []) {
    const task = await ownTaskOf(call, route, id, parts);
    if (isRefusal(task)) return task;
  }
  const untold = pushConfig === null ? null : await refusedPushConfig(continuedTask, pushConfig, parts);
  if (untold !== null) return untold;
  noteUnreadable(call, parts.gates, "a2a_inbound", new PartSlots("user").message(message));
  const names = await contextNames(call, route, contextId, parts);
  const passage = await letThrough(call, route, { ...params, message }, parts);
  if (isRefusal(passage)) return passage;
  const counted = continuedTask === null ? 0 : await parts.tasks.restartCost(continuedTask);
  const sent: JsonObject = {
    message: { ...message, ...(names.upstream === null ? {} : { contextId: names.upstream }) },
    ...(Object.keys(configuration).length === 0 ? {} : { configuration }),
    ...(params.metadata === undefined ? {} : { metadata: params.metadata }),
  };
  return {
    passage,
    params: sent,
    names: new OwnNames(call, route, names, typeof taskId === "string" ? taskId : null, parts),
    before: continuedTask === null ? null : knownTask(continuedTask),
    pushConfig,
    historyLength: typeof historyLength === "number" ? historyLength : null,
    async refused(refusal) {
      if (continuedTask !== null && counted > 0 && isNotTaken(refusal, call))
        await parts.tasks
          .resumeCost(continuedTask, counted)
          .catch((error: Error) => parts.log.warn("agent_cost_not_stored", { call_id: call.id, error }));
      return refusal;
    },
  };
}

/**
 * Runs argument policies on each data part, under the names of the skill and the agent; then submits the whole message for approval, where
 * that is required.
 */
async function letThrough(
  call: Call,
  route: AgentRoute,
  { message, metadata }: { readonly message: JsonObject } & JsonObject,
  { outlet }: Pick<AgentParts, "outlet">,
): Promise<Passage<AgentUpstream> | Refusal> {
  const content = Array.isArray(message.parts) ? message.parts : [];
  for (const part of content.filter(isObject)) {
    if (part.data === undefined) continue;
    const decision = await outlet.gates.beforeAction(call, actionOf(route, part.data, false));
    if (decision.kind === "refuse") return decision.refusal;
  }
  const whole = present({
    parts: message.parts,
    taskId: message.taskId,
    contextId: message.contextId,
    referenceTaskIds: message.referenceTaskIds,
    metadata: message.metadata,
    extensions: message.extensions,
    requestMetadata: metadata,
  });
  const passage = await outlet.open(call, actionOf(route, whole, route.grant.decision === "approval_required"));
  if (isRefusal(passage)) return passage;
  return passage.kind === "hold" ? heldRefusal(passage.approval) : passage;
}

function actionOf({ agent, grant, skill }: AgentRoute, given: JsonValue, required: boolean): Action {
  return {
    name: skill ?? agent.cardName,
    alias: agent.cardName,
    arguments: JSON.stringify(given),
    definition: null,
    approval: {
      required,
      serverId: agent.id,
      serverName: agent.name,
      configId: grant.id,
      approverGroupIds: grant.approverGroupIds,
      timeoutSeconds: grant.approvalTimeoutSeconds,
      definitionDigest: async () => agent.reached?.skillsDigest ?? "",
      proof: { session: null },
    },
  };
}
