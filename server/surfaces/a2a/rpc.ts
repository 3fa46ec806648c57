import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { ownAnswer, type WholeAnswer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import type { Surface } from "../../road/surface.ts";
import {
  AGENT_OPERATIONS,
  type AgentRequest,
  type AgentResult,
  type AgentWriter,
  type ServedOperation,
} from "../../services/agents/agent-request.ts";
import type { AgentService } from "../../services/agents/agent-service.ts";
import { eventObject } from "../../wire/a2a/shapes.ts";
import { oldEvent, oldTask } from "../../wire/a2a/v03-objects.ts";
import { oldTaskPushConfig } from "../../wire/a2a/v03-push-config.ts";
import { isObject, type JsonValue } from "../../kernel/json-value.ts";
import { A2A_SUBTYPES } from "../../wire/a2a/audit-subtypes.ts";
import { agentExchange, bodyOf, malformed, type NamedAgent } from "./agent-exchange.ts";
import { agentOfPath } from "./agent-path.ts";
import { rpcErrorText, agentRpcStatus } from "./refusals.ts";
import { rpcParams, oldRpcParams } from "./rpc-params.ts";

/** Methods of v0.3, which has no method to list tasks. */
const OLD_METHODS: Readonly<Record<string, ServedOperation>> = {
  "message/send": "SendMessage",
  "message/stream": "SendStreamingMessage",
  "tasks/get": "GetTask",
  "tasks/cancel": "CancelTask",
  "tasks/resubscribe": "SubscribeToTask",
  "tasks/pushNotificationConfig/set": "CreateTaskPushNotificationConfig",
  "tasks/pushNotificationConfig/get": "GetTaskPushNotificationConfig",
  "tasks/pushNotificationConfig/list": "ListTaskPushNotificationConfigs",
  "tasks/pushNotificationConfig/delete": "DeleteTaskPushNotificationConfig",
  "agent/getAuthenticatedExtendedCard": "GetExtendedAgentCard",
};
const NEW_METHODS: ReadonlySet<string> = new Set(AGENT_OPERATIONS);
const MAX_ID_LENGTH = 300;
const STREAMING: ReadonlySet<ServedOperation> = new Set(["SendStreamingMessage", "SubscribeToTask"]);
const EVENTS = { "content-type": "text/event-stream", "cache-control": "no-store" };
const encoder = new TextEncoder();

interface RpcRequest {
  readonly id: JsonValue;
  readonly version: "1.0" | "0.3";
  /** Whether the caller is a v0.3 client waiting for events, which can read a refusal only as an event. */
  readonly eventsOnly?: boolean;
}
/** Requests in progress, so that a refusal carries the ID of its request. */
const rpcRequests = new WeakMap<Call, RpcRequest>();

/** Determines which agent a call is for. */
type AgentNamer = (call: Call) => NamedAgent | Refusal;

/** For an address shared by several agents. */
export const agentOfQuery: AgentNamer = (call) => {
  const cardName = call.headers.get("x-gw-agent") ?? new URL(call.url).searchParams.get("agent");
  return cardName === null
    ? refuse("agent_invalid_params", "Name the agent by its card name, in the header X-Gw-Agent or the query parameter agent.")
    : { tenantId: null, cardName };
};

/** For an agent's own address. */
export const agentOfAddress: AgentNamer = (call) => agentOfPath(call.path).named;

/** JSON-RPC. The method tells A2A v0.3 from v1.0 (interface 4.5). */
export const agentRpc = (agents: AgentService, agentOf: AgentNamer): Surface => ({
  refusal(refusal, call) {
    const { id, version, eventsOnly } = rpcRequestOf(call);
    const status = agentRpcStatus(refusal);
    const body = rpcErrorText(id, refusal, version);
    if (status === 200 && eventsOnly === true) return { headers: EVENTS, body: `data: ${body}\n\n`, status };
    return { headers: { "content-type": "application/json" }, body, status };
  },
  streamError(refusal, call) {
    const { id, version } = rpcRequestOf(call);
    return encoder.encode(`data: ${rpcErrorText(id, refusal, version)}\n\n`);
  },
  read(call, body) {
    const value = body === null || body.byteLength === 0 ? refuse("rpc_parse_error") : bodyOf(body);
    if (isRefusal(value)) return value.code === "agent_invalid_params" ? notOneMessage(call, body) : value;
    const { id = null, method, jsonrpc, params } = value;
    const knownId = typeof id === "string" ? id.length <= MAX_ID_LENGTH : id === null || typeof id === "number" || isObject(id);
    if (knownId && !isMessageOfNobody(id)) rpcRequests.set(call, { id, version: "0.3" });
    if (jsonrpc !== "2.0" || typeof method !== "string" || !knownId || isMessageOfNobody(id)) return refuse("rpc_invalid_request");
    const isNew = NEW_METHODS.has(method);
    const operation = isNew ? (method as ServedOperation) : Object.hasOwn(OLD_METHODS, method) ? OLD_METHODS[method] : undefined;
    const version = isNew ? "1.0" : "0.3";
    rpcRequests.set(call, { id, version, eventsOnly: version === "0.3" && operation !== undefined && STREAMING.has(operation) });
    if (operation === undefined)
      return refuse("rpc_method_not_found", `The method ${JSON.stringify(method.slice(0, 100))} is not served here.`);
    call.row.a2a_protocol_version = version;
    call.row.proxy_subtype = A2A_SUBTYPES[operation];
    const wrong = versionRefusal(call, version);
    if (wrong !== null) return wrong;
    if (params !== undefined && params !== null && !isObject(params)) return refuse("agent_invalid_params");
    const named = agentOf(call);
    if (isRefusal(named)) return named;
    try {
      const read = version === "1.0" ? rpcParams(operation, params ?? {}) : oldRpcParams(operation, params ?? {});
      const request: AgentRequest = { operation, params: read, version, writer: writerFor(id, version) };
      return agentExchange(call, agents, named, request);
    } catch (error) {
      return malformed(error);
    }
  },
});

/** Valid JSON that is not an object, such as a batch, is an invalid request rather than a parse error. */
function notOneMessage(call: Call, body: Uint8Array | null): Refusal {
  try {
    JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body ?? new Uint8Array(0)));
    return refuse("rpc_invalid_request");
  } catch {
    const type = call.headers.get("content-type") ?? "";
    return type === "" || /\bjson\b/i.test(type)
      ? refuse("rpc_parse_error")
      : refuse("agent_content_type_not_supported", `A request is JSON, not ${JSON.stringify(type.slice(0, 100))}.`);
  }
}

/** Whether an ID is an object; big numbers, which are kept as raw JSON, are not counted as such. */
const isMessageOfNobody = (id: JsonValue) => isObject(id) && !("rawJSON" in id);

const rpcRequestOf = (call: Call | null): RpcRequest => (call === null ? undefined : rpcRequests.get(call)) ?? { id: null, version: "0.3" };

function versionRefusal(call: Call, version: "1.0" | "0.3"): Refusal | null {
  const versionHeader = call.headers.get("a2a-version") ?? new URL(call.url).searchParams.get("A2A-Version");
  if (versionHeader === null || versionHeader.trim() === "" || versionHeader.trim().startsWith(version)) return null;
  return refuse(
    "agent_version_not_supported",
    `The method is of A2A ${version}, and A2A-Version says ${JSON.stringify(versionHeader.slice(0, 20))}.`,
  );
}

function writerFor(id: JsonValue, version: "1.0" | "0.3"): AgentWriter {
  const text = (result: JsonValue) => JSON.stringify({ jsonrpc: "2.0", id, result });
  const whole = (result: JsonValue): WholeAnswer => ownAnswer(200, { "content-type": "application/json" }, text(result));
  const isNew = version === "1.0";
  return {
    whole(result: AgentResult) {
      switch (result.kind) {
        case "event":
          return whole(isNew ? eventObject(result.event) : oldEvent(result.event, true));
        case "task":
          return whole(isNew ? result.task : oldTask(result.task));
        case "tasks":
          return whole(result.listing);
        case "config":
          return whole(isNew ? result.config : oldTaskPushConfig(String(result.config.taskId), result.config));
        case "configs":
          return whole(
            isNew
              ? { configs: [...result.configs], nextPageToken: "" }
              : result.configs.map((one) => oldTaskPushConfig(result.taskId, one)),
          );
        case "deleted":
          return whole(isNew ? {} : null);
        case "card":
          return whole(result.card);
      }
    },
    event: (event, last) => text(isNew ? eventObject(event) : oldEvent(event, last)),
  };
}
