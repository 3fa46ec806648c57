import type { ServedOperation } from "../../services/agents/agent-request.ts";
import { LIST_PARAMS } from "../../wire/a2a/agent-requests.ts";
import { Malformed, namedMember, readPushConfig, readSendRequest } from "../../wire/a2a/shapes.ts";
import { newPushConfig } from "../../wire/a2a/v03-push-config.ts";
import { newSendParams } from "../../wire/a2a/v03-requests.ts";
import type { JsonObject, JsonValue } from "../../kernel/json-value.ts";

const TASK_ID = ["GetTask", "CancelTask", "SubscribeToTask"];

function textOf(value: JsonValue | undefined, field: string): string {
  if (typeof value !== "string" || value === "") throw new Malformed(field, "is required");
  return value;
}

const lengthOf = (value: JsonValue | undefined): JsonObject => {
  if (value === undefined || value === null) return {};
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0)
    throw new Malformed("historyLength", "must be a whole number from 0");
  return { historyLength: value };
};

export function rpcParams(operation: ServedOperation, params: JsonObject): JsonObject {
  if (operation === "SendMessage" || operation === "SendStreamingMessage") return readSendRequest(params);
  const taskId = () => textOf(namedMember(params, "taskId"), "taskId");
  if (operation === "CreateTaskPushNotificationConfig") return { ...readPushConfig(params), taskId: taskId() };
  if (operation.includes("PushNotificationConfig"))
    return { taskId: taskId(), ...(operation.startsWith("List") ? {} : { id: textOf(params.id, "id") }) };
  if (!TASK_ID.includes(operation)) return listParams(params);
  const { metadata } = params;
  return { id: textOf(params.id, "id"), ...lengthOf(namedMember(params, "historyLength")), ...(metadata == null ? {} : { metadata }) };
}

/** For list operations; clients may write unset parameters as null or empty. */
function listParams(params: JsonObject): JsonObject {
  const listed: JsonObject = {};
  for (const name of LIST_PARAMS) {
    const value = namedMember(params, name);
    if (value !== undefined && value !== null && value !== "") listed[name] = value;
  }
  return listed;
}

export function oldRpcParams(operation: ServedOperation, params: JsonObject): JsonObject {
  const { metadata } = params;
  switch (operation) {
    case "SendMessage":
    case "SendStreamingMessage":
      return readSendRequest(newSendParams(params));
    case "CreateTaskPushNotificationConfig":
      return {
        ...readPushConfig(newPushConfig(params.pushNotificationConfig, "pushNotificationConfig")),
        taskId: textOf(params.taskId, "taskId"),
      };
    case "GetTaskPushNotificationConfig":
    case "ListTaskPushNotificationConfigs":
    case "DeleteTaskPushNotificationConfig": {
      const { pushNotificationConfigId: id } = params;
      return { taskId: textOf(params.id, "id"), ...(id == null ? {} : { id: textOf(id, "pushNotificationConfigId") }) };
    }
    case "GetExtendedAgentCard":
      return {};
    default:
      return { id: textOf(params.id, "id"), ...lengthOf(params.historyLength), ...(metadata == null ? {} : { metadata }) };
  }
}
