import type { JsonObject, JsonValue } from "../../kernel/json-value.ts";
import { type AgentEvent, readEvent, readTask } from "./shapes.ts";
import { newEvent, newTask } from "./v03-objects.ts";
import { oldSendParams } from "./v03-requests.ts";

export type AgentBinding = "http_json" | "jsonrpc";
export type AgentVersion = "1.0" | "0.3";

/** The operations that are forwarded to agents; the gateway answers all others itself. */
export type AgentOperation = "SendMessage" | "SendStreamingMessage" | "GetTask" | "CancelTask" | "SubscribeToTask";

/** The parameters that filter a list of tasks. */
export const LIST_PARAMS = [
  "historyLength",
  "pageSize",
  "contextId",
  "status",
  "pageToken",
  "statusTimestampAfter",
  "includeArtifacts",
] as const;

export interface HttpAsk {
  readonly method: "GET" | "POST";
  /** Relative to the agent's endpoint. */
  readonly path: string;
  readonly body: JsonObject | null;
}

const OLD_METHODS: Readonly<Record<AgentOperation, string>> = {
  SendMessage: "message/send",
  SendStreamingMessage: "message/stream",
  GetTask: "tasks/get",
  CancelTask: "tasks/cancel",
  SubscribeToTask: "tasks/resubscribe",
};

function restAsk(operation: AgentOperation, params: JsonObject): HttpAsk {
  const task = `/tasks/${encodeURIComponent(String(params.id))}`;
  switch (operation) {
    case "SendMessage":
      return { method: "POST", path: "/message:send", body: params };
    case "SendStreamingMessage":
      return { method: "POST", path: "/message:stream", body: params };
    case "GetTask":
      return {
        method: "GET",
        path: params.historyLength === undefined ? task : `${task}?historyLength=${String(params.historyLength)}`,
        body: null,
      };
    case "CancelTask":
      return { method: "POST", path: `${task}:cancel`, body: params.metadata === undefined ? {} : { metadata: params.metadata } };
    case "SubscribeToTask":
      return { method: "GET", path: `${task}:subscribe`, body: null };
  }
}

/** Translates a v1.0 request to the agent's binding and version. Throws `Malformed` if its version cannot express it. */
export function agentAsk(
  { binding, version, tenant }: { readonly binding: AgentBinding; readonly version: AgentVersion; readonly tenant: string | null },
  operation: AgentOperation,
  params: JsonObject,
): HttpAsk {
  const named = tenant === null ? params : { tenant, ...params };
  if (binding === "http_json") {
    const ask = restAsk(operation, named);
    return tenant === null ? ask : { ...ask, path: `/${encodeURIComponent(tenant)}${ask.path}` };
  }
  const rpc = (method: string, rpcParams: JsonObject): HttpAsk => ({
    method: "POST",
    path: "",
    body: { jsonrpc: "2.0", id: "1", method, params: rpcParams },
  });
  if (version === "1.0") return rpc(operation, named);
  const sends = operation === "SendMessage" || operation === "SendStreamingMessage";
  return rpc(
    OLD_METHODS[operation],
    sends ? oldSendParams(params, (params.configuration as JsonObject | undefined)?.returnImmediately !== true) : params,
  );
}

/** Translates an agent's answer to v1.0. Throws `Malformed` if it is not a valid answer to the operation. */
export function agentAnswer(version: AgentVersion, operation: AgentOperation, value: JsonValue): AgentEvent {
  if (operation === "SendMessage") return readEvent(version === "1.0" ? value : newEvent(value), ["task", "message"]);
  return { kind: "task", value: readTask(version === "1.0" ? value : newTask(value)) };
}

/** Translates one event of an agent's stream to v1.0. Throws `Malformed` if it is not a valid event. */
export function agentStreamEvent(version: AgentVersion, value: JsonValue): AgentEvent {
  return readEvent(version === "1.0" ? value : newEvent(value));
}
