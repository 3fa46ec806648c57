import { hash } from "node:crypto";
import type { AgentTaskRow, PushConfig } from "../../directory/agents/tasks.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { isStorableText } from "../../kernel/storable.ts";
import type { Answer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import type { AgentRoute } from "../../road/target.ts";
import type { AgentVersion } from "../../wire/a2a/agent-requests.ts";
import { type AgentEvent, eventObject, Malformed } from "../../wire/a2a/shapes.ts";
import { oldEvent } from "../../wire/a2a/v03-objects.ts";
import { isObject, type JsonObject } from "../../wire/document.ts";
import type { AgentParts } from "./agent-parts.ts";
import type { AgentRequest } from "./agent-request.ts";
import { ownTaskOf } from "./own-tasks.ts";
import { refusedPushUrl } from "./push-address.ts";
import { written } from "./written.ts";

type TaskKey = Pick<AgentTaskRow, "tenant_id" | "agent_id" | "id">;

const MOST_CONFIGS = 10;
const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** Who told of a task is written down; a secret is told to nobody again. */
function configObject(taskId: string, { id, url, token, scheme, credentials }: PushConfig): JsonObject {
  return {
    id,
    taskId,
    url,
    ...(token === null ? {} : { token }),
    ...(scheme === null ? {} : { authentication: { scheme, ...(credentials === null ? {} : { credentials }) } }),
  };
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

/** The four operations on who is told of a task. */
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
    const denied = await refusedPushUrl(params.url, parts.allowPrivate);
    if (denied !== null) return denied;
    if (![params.id, params.url, params.token].every((value) => value === undefined || isStorableText(String(value))))
      return refuse("agent_invalid_params");
    if ((await tasks.pushConfigs(row)).filter(({ id }) => id !== params.id).length >= MOST_CONFIGS)
      return refuse("agent_invalid_params", `A task has at most ${MOST_CONFIGS} push configurations.`);
    const kept = await keepPushConfig(row, params, version, parts);
    return written(() => writer.whole({ kind: "config", config: configObject(row.id, kept), made: true }));
  }
  const configs = await tasks.pushConfigs(row);
  if (operation === "ListTaskPushNotificationConfigs")
    return written(() => writer.whole({ kind: "configs", taskId: row.id, configs: configs.map((one) => configObject(row.id, one)) }));
  if (operation === "DeleteTaskPushNotificationConfig") {
    if (typeof params.id === "string" && isStorableText(params.id)) await tasks.removePushConfig(row, params.id);
    return written(() => writer.whole({ kind: "deleted" }));
  }
  // A v0.3 caller may ask without saying which.
  const found = params.id === undefined ? configs[0] : configs.find(({ id }) => id === params.id);
  if (found === undefined) return refuse("agent_task_not_found", "There is no such push configuration.");
  return written(() => writer.whole({ kind: "config", config: configObject(row.id, found), made: false }));
}

/** Puts an event before everybody who is to be told of its task; a status is told once, whoever sees it first. */
export async function tellOf(task: TaskKey, event: AgentEvent, { tasks }: Pick<AgentParts, "tasks">): Promise<void> {
  const { status } = event.value;
  const digest = isObject(status)
    ? hash("sha256", JSON.stringify([status.state, status.timestamp ?? null, status.message ?? null]), "hex")
    : null;
  await tasks.tell(task, digest, (version) => notificationBody(event, version));
}

function notificationBody(event: AgentEvent, version: AgentVersion): string {
  if (version === "1.0") return JSON.stringify(eventObject(event));
  try {
    return JSON.stringify(oldEvent(event, false));
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    // What the dialect cannot say is left to who asks for the task.
    return JSON.stringify({
      kind: "task",
      id: event.value.id ?? event.value.taskId,
      contextId: event.value.contextId,
      status: { state: "unknown" },
    });
  }
}
