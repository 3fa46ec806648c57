import { hash } from "node:crypto";
import type { AgentTaskRow, PushConfig } from "../../directory/agents/tasks.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { isStorableText } from "../../kernel/text/storable.ts";
import type { Answer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import type { AgentRoute } from "../../road/target.ts";
import type { AgentVersion } from "../../wire/a2a/agent-requests.ts";
import { type AgentEvent, eventObject, Malformed, stateOf, TERMINAL_STATES } from "../../wire/a2a/shapes.ts";
import { oldEvent } from "../../wire/a2a/v03-objects.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import type { AgentParts } from "./agent-parts.ts";
import type { AgentRequest } from "./agent-request.ts";
import { ownTaskOf } from "./own-tasks.ts";
import { refusedPushUrl } from "./push-address.ts";
import { withoutContent } from "./without-content.ts";
import { writeAnswer } from "./write-answer.ts";

type TaskKey = Pick<AgentTaskRow, "tenant_id" | "agent_id" | "id">;

const MAX_CONFIGS = 10;
const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** The configuration as shown to the task's owner, secrets included. */
function configObject(taskId: string, { id, url, token, scheme, credentials }: PushConfig): JsonObject {
  return {
    id,
    taskId,
    url,
    ...(token === null ? {} : { token }),
    ...(scheme === null ? {} : { authentication: { scheme, ...(credentials === null ? {} : { credentials }) } }),
  };
}

/** Why a push configuration is refused; null if it is valid. `task`: null if the task has not begun. */
export async function refusedPushConfig(
  task: TaskKey | null,
  { id, url, token, authentication }: JsonObject,
  { tasks, allowPrivate, isLeftToProxy }: Pick<AgentParts, "tasks" | "allowPrivate" | "isLeftToProxy">,
): Promise<Refusal | null> {
  const { scheme, credentials } = isObject(authentication) ? authentication : {};
  const texts = { id, url, token, "authentication.scheme": scheme, "authentication.credentials": credentials };
  const fields = Object.entries(texts).flatMap(([field, value]) =>
    typeof value === "string" && !isStorableText(value)
      ? [{ field, message: "must be text without NUL characters and halves of pairs" }]
      : [],
  );
  if (fields.length > 0) return refuse("agent_invalid_params", undefined, { fields });
  const denied = await refusedPushUrl(url, { allowPrivate, isLeftToProxy });
  if (denied !== null || task === null) return denied;
  const others = (await tasks.pushConfigs(task)).filter((one) => one.id !== id);
  return others.length < MAX_CONFIGS ? null : refuse("agent_invalid_params", `A task has at most ${MAX_CONFIGS} push configurations.`);
}

export async function keepPushConfig(
  task: TaskKey,
  config: JsonObject,
  version: AgentVersion,
  { tasks }: Pick<AgentParts, "tasks">,
): Promise<PushConfig> {
  const { authentication } = config;
  return tasks.putPushConfig(task, {
    id: textOrNull(config.id),
    url: String(config.url),
    token: textOrNull(config.token),
    scheme: isObject(authentication) ? textOrNull(authentication.scheme) : null,
    credentials: isObject(authentication) ? textOrNull(authentication.credentials) : null,
    version,
  });
}

/** Serves the four operations on push configurations of a task. */
export async function pushConfigOperation(
  call: Call,
  route: AgentRoute,
  request: AgentRequest,
  parts: AgentParts,
): Promise<Answer | Refusal> {
  const { params, operation, version, writer } = request;
  const row = await ownTaskOf(call, route, params.taskId, parts);
  if (isRefusal(row)) return row;
  const { tasks } = parts;
  if (operation === "CreateTaskPushNotificationConfig") {
    const denied = await refusedPushConfig(row, params, parts);
    if (denied !== null) return denied;
    const kept = await keepPushConfig(row, params, version, parts);
    return writeAnswer(() => writer.whole({ kind: "config", config: configObject(row.id, kept), made: true }));
  }
  const configs = await tasks.pushConfigs(row);
  if (operation === "ListTaskPushNotificationConfigs")
    return writeAnswer(() => writer.whole({ kind: "configs", taskId: row.id, configs: configs.map((one) => configObject(row.id, one)) }));
  if (operation === "DeleteTaskPushNotificationConfig") {
    if (typeof params.id === "string" && isStorableText(params.id)) await tasks.removePushConfig(row, params.id);
    return writeAnswer(() => writer.whole({ kind: "deleted" }));
  }
  // v0.3 allows a request without a configuration ID.
  const found = params.id === undefined ? configs[0] : configs.find(({ id }) => id === params.id);
  if (found === undefined) return refuse("agent_task_not_found", "There is no such push configuration.");
  return writeAnswer(() => writer.whole({ kind: "config", config: configObject(row.id, found), made: false }));
}

/** Queues an event for every subscriber of its task. A status is queued once, whichever process sees it first. */
export async function queueNotifications(task: TaskKey, event: AgentEvent, { tasks }: Pick<AgentParts, "tasks">): Promise<void> {
  const { status } = event.value;
  const reportedStatus = isObject(status)
    ? {
        digest: hash("sha256", JSON.stringify([status.state, status.timestamp ?? null, status.message ?? null]), "hex"),
        isEnd: TERMINAL_STATES.has(stateOf(event.value)),
      }
    : null;
  const brief = { kind: event.kind, value: withoutContent(event.value) };
  await tasks.queueNotifications(task, reportedStatus, (version) => ({
    whole: notificationBody(event, version),
    brief: notificationBody(brief, version),
  }));
}

/** Queues an event that a call has seen, in the same form as the task watch does, so that it is delivered once. */
export async function queueReceivedNotifications(
  call: Call,
  task: TaskKey,
  { kind, value }: AgentEvent,
  { tasks, gates }: Pick<AgentParts, "tasks" | "gates">,
): Promise<void> {
  await queueNotifications(task, { kind, value: gates.inspects(call, "a2a_outbound") ? withoutContent(value) : value }, { tasks });
}

function notificationBody(event: AgentEvent, version: AgentVersion): string {
  if (version === "1.0") return JSON.stringify(eventObject(event));
  try {
    return JSON.stringify(oldEvent(event, false));
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    // An event that v0.3 cannot express is reduced to a reference; the subscriber can fetch the task.
    return JSON.stringify({
      kind: "task",
      id: event.value.id ?? event.value.taskId,
      contextId: event.value.contextId,
      status: { state: "unknown" },
    });
  }
}
