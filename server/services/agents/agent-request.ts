import type { AgentVersion } from "../../wire/a2a/agent-requests.ts";
import type { AgentEvent } from "../../wire/a2a/shapes.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import type { WholeAnswer } from "../../road/answer.ts";

/** The operations of A2A v1.0. */
export const AGENT_OPERATIONS = [
  "SendMessage",
  "SendStreamingMessage",
  "GetTask",
  "ListTasks",
  "CancelTask",
  "SubscribeToTask",
  "CreateTaskPushNotificationConfig",
  "GetTaskPushNotificationConfig",
  "ListTaskPushNotificationConfigs",
  "DeleteTaskPushNotificationConfig",
  "GetExtendedAgentCard",
] as const;
export type ServedOperation = (typeof AGENT_OPERATIONS)[number];

/** The result of an operation, in A2A v1.0. */
export type AgentResult =
  | { readonly kind: "event"; readonly event: AgentEvent }
  | { readonly kind: "task"; readonly task: JsonObject }
  | { readonly kind: "tasks"; readonly listing: JsonObject }
  | { readonly kind: "config"; readonly config: JsonObject; readonly made: boolean }
  | { readonly kind: "configs"; readonly taskId: string; readonly configs: readonly JsonObject[] }
  | { readonly kind: "deleted" }
  | { readonly kind: "card"; readonly card: JsonObject };

/** Writes results in the binding and dialect of the request. Throws `Malformed` if these cannot express a result. */
export interface AgentWriter {
  whole(result: AgentResult): WholeAnswer;
  /** `last`: no event follows. */
  event(event: AgentEvent, last: boolean): string;
}

/** A parsed request, converted to v1.0 whatever version its caller uses. */
export interface AgentRequest {
  readonly operation: ServedOperation;
  readonly params: JsonObject;
  /** The version that the caller uses. */
  readonly version: AgentVersion;
  readonly writer: AgentWriter;
}
