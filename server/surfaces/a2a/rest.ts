import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { ownAnswer, type WholeAnswer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import type { Surface } from "../../road/surface.ts";
import type { AgentRequest, AgentResult, AgentWriter, ServedOperation } from "../../services/agents/agent-request.ts";
import type { AgentService } from "../../services/agents/agent-service.ts";
import { LIST_PARAMS } from "../../wire/a2a/agent-requests.ts";
import { eventObject, Malformed, readPushConfig, readSendRequest } from "../../wire/a2a/shapes.ts";
import type { JsonObject, JsonValue } from "../../kernel/json-value.ts";
import { agentExchange, bodyOf, malformed } from "./agent-exchange.ts";
import { agentOfPath, decoded } from "./agent-path.ts";
import { mediaType, restRefusals } from "./refusals.ts";

const TASK_PATH = /^tasks\/(.+?)(?::(cancel|subscribe)|\/pushNotificationConfigs(?:\/([^/]+))?)?$/;

/** /a2a/{tenant_id}/{card_name}: the HTTP+JSON binding of A2A v1.0 (interface 4.5). */
export const agentRest =
  (operation: ServedOperation) =>
  (agents: AgentService): Surface => ({
    ...restRefusals,
    read(call, body) {
      const { named, rest } = agentOfPath(call.path);
      const version = versionRefusal(call);
      if (version !== null) return version;
      call.row.a2a_protocol_version = "1.0";
      const params = readParams(call, operation, rest, body);
      if (isRefusal(params)) return params;
      const request: AgentRequest = { operation, params, version: "1.0", writer: writerFor(call) };
      return agentExchange(call, agents, named, request);
    },
  });

/** The path belongs to v1.0, so that is the default version. */
function versionRefusal(call: Call): Refusal | null {
  const requestedVersion = call.headers.get("a2a-version") ?? new URL(call.url).searchParams.get("A2A-Version");
  if (requestedVersion === null || requestedVersion.trim() === "" || /^1\.0(?:\.\d+)?$/.test(requestedVersion.trim())) return null;
  return refuse("agent_version_not_supported", `This address serves A2A 1.0, not ${JSON.stringify(requestedVersion.slice(0, 20))}.`);
}

function readParams(call: Call, operation: ServedOperation, rest: string, body: Uint8Array | null): JsonObject | Refusal {
  const value = bodyOf(body);
  if (isRefusal(value)) return value;
  const [, taskId = "", , configId = ""] = TASK_PATH.exec(rest) ?? [];
  const task = decoded(taskId);
  try {
    switch (operation) {
      case "SendMessage":
      case "SendStreamingMessage":
        return readSendRequest(value);
      case "CancelTask":
        return { id: task, ...(value.metadata === undefined || value.metadata === null ? {} : { metadata: value.metadata }) };
      case "CreateTaskPushNotificationConfig":
        return { ...readPushConfig(value), taskId: task };
      case "GetTaskPushNotificationConfig":
      case "DeleteTaskPushNotificationConfig":
        return { taskId: task, id: decoded(configId) };
      case "ListTaskPushNotificationConfigs":
        return { taskId: task };
      default:
        return { ...query(call), ...(task === "" ? {} : { id: task }) };
    }
  } catch (error) {
    return malformed(error);
  }
}

const NUMBERS = new Set(["historyLength", "pageSize"]);
const KNOWN: ReadonlySet<string> = new Set(LIST_PARAMS);

function query(call: Call): JsonObject {
  const params: JsonObject = {};
  for (const [name, value] of new URL(call.url).searchParams) {
    if (!KNOWN.has(name) || value === "") continue;
    if (name === "historyLength" && !/^\d{1,9}$/.test(value)) throw new Malformed(name, "must be a whole number from 0");
    params[name] = NUMBERS.has(name) ? number(value) : name === "includeArtifacts" ? flag(value) : value;
  }
  return params;
}

/** Anything but a number is passed on as text and refused where a number is required. */
const number = (text: string): JsonValue => (/^-?\d{1,9}$/.test(text) ? Number(text) : text);
const flag = (text: string): JsonValue => (text === "true" || text === "false" ? text === "true" : text);

function writerFor(call: Call): AgentWriter {
  const type = mediaType(call);
  const json = (value: JsonValue, status = 200): WholeAnswer => ownAnswer(status, { "content-type": type }, JSON.stringify(value));
  return {
    whole(result: AgentResult) {
      switch (result.kind) {
        case "event":
          return json(eventObject(result.event));
        case "task":
          return json(result.task);
        case "tasks":
          return json(result.listing);
        case "config":
          return json(result.config, result.made ? 201 : 200);
        case "configs":
          return json({ configs: [...result.configs], nextPageToken: "" });
        case "deleted":
          return ownAnswer(204, {});
        case "card":
          return json(result.card);
      }
    },
    event: (event) => JSON.stringify(eventObject(event)),
  };
}
