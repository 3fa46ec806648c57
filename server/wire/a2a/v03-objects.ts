import type { JsonObject, JsonValue } from "../../kernel/json-value.ts";
import { type AgentEvent, Malformed } from "./shapes.ts";
import { listAt, newPart, objectAt, oldPart, present } from "./v03-parts.ts";

/**
 * Translates A2A v0.3 objects to v1.0 and back. Throws `Malformed` if the other version cannot express something, never
 * drops it. Translated v0.3 objects are validated as v1.0 afterwards, so only the differences are handled here.
 */

const ROLES: readonly (readonly [string, string])[] = [
  ["user", "ROLE_USER"],
  ["agent", "ROLE_AGENT"],
];

const STATES: readonly (readonly [string, string])[] = [
  ["submitted", "TASK_STATE_SUBMITTED"],
  ["working", "TASK_STATE_WORKING"],
  ["input-required", "TASK_STATE_INPUT_REQUIRED"],
  ["completed", "TASK_STATE_COMPLETED"],
  ["canceled", "TASK_STATE_CANCELED"],
  ["failed", "TASK_STATE_FAILED"],
  ["rejected", "TASK_STATE_REJECTED"],
  ["auth-required", "TASK_STATE_AUTH_REQUIRED"],
  ["unknown", "TASK_STATE_UNSPECIFIED"],
];
const newRoles = new Map(ROLES);
const oldRoles = new Map(ROLES.map(([old, now]) => [now, old]));
const newStates = new Map(STATES);
const oldStates = new Map(STATES.map(([old, now]) => [now, old]));

function mapped(names: ReadonlyMap<string, string>, value: JsonValue | undefined, at: string): string {
  const found = typeof value === "string" ? names.get(value) : undefined;
  if (found === undefined) throw new Malformed(at, `must be one of ${[...names.keys()].join(", ")}`);
  return found;
}

export function newMessage(value: JsonValue | undefined, at: string): JsonObject {
  const { kind: _kind, role, parts, ...rest } = objectAt(value, at);
  return {
    ...rest,
    role: mapped(newRoles, role, `${at}.role`),
    parts: listAt(parts, `${at}.parts`).map((one, index) => newPart(one, `${at}.parts.${index}`)),
  };
}

export function oldMessage(value: JsonValue | undefined, at: string): JsonObject {
  const { role, parts, ...rest } = objectAt(value, at);
  return {
    kind: "message",
    ...rest,
    role: mapped(oldRoles, role, `${at}.role`),
    parts: listAt(parts, `${at}.parts`).map((one, index) => oldPart(one, `${at}.parts.${index}`)),
  };
}

function newStatus(value: JsonValue | undefined, at: string): JsonObject {
  const { state, message, timestamp } = objectAt(value, at);
  return {
    state: mapped(newStates, state, `${at}.state`),
    ...present({ message: message == null ? undefined : newMessage(message, `${at}.message`), timestamp }),
  };
}

function oldStatus(value: JsonValue | undefined, at: string): JsonObject {
  const { state, message, timestamp } = objectAt(value, at);
  return {
    state: mapped(oldStates, state, `${at}.state`),
    ...present({ message: message === undefined ? undefined : oldMessage(message, `${at}.message`), timestamp }),
  };
}

const eachIn = (value: JsonValue | undefined, at: string, one: (item: JsonValue, at: string) => JsonObject) =>
  value == null ? undefined : listAt(value, at).map((item, index) => one(item, `${at}.${index}`));

function artifactWith(part: (value: JsonValue, at: string) => JsonObject) {
  return (value: JsonValue | undefined, at: string): JsonObject => {
    const { parts, ...rest } = objectAt(value, at);
    return { ...rest, parts: listAt(parts, `${at}.parts`).map((one, index) => part(one, `${at}.parts.${index}`)) };
  };
}

const newArtifact = artifactWith(newPart);
const oldArtifact = artifactWith(oldPart);

export function newTask(value: JsonValue | undefined, at = "task"): JsonObject {
  const { kind: _kind, status, artifacts, history, ...rest } = objectAt(value, at);
  return {
    ...rest,
    status: newStatus(status, `${at}.status`),
    ...present({ artifacts: eachIn(artifacts, `${at}.artifacts`, newArtifact), history: eachIn(history, `${at}.history`, newMessage) }),
  };
}

export function oldTask(value: JsonValue | undefined, at = "task"): JsonObject {
  const { status, artifacts, history, contextId, id, ...rest } = objectAt(value, at);
  return {
    kind: "task",
    id,
    contextId: contextId ?? id,
    ...rest,
    status: oldStatus(status, `${at}.status`),
    ...present({ artifacts: eachIn(artifacts, `${at}.artifacts`, oldArtifact), history: eachIn(history, `${at}.history`, oldMessage) }),
  };
}

/** Translates a v0.3 answer or stream event, identified by its `kind`. */
export function newEvent(value: JsonValue | undefined): JsonObject {
  const event = objectAt(value, "");
  switch (event.kind) {
    case "task":
      return { task: newTask(event) };
    case "message":
      return { message: newMessage(event, "message") };
    case "status-update":
      return { statusUpdate: { ...event, status: newStatus(event.status, "status") } };
    case "artifact-update":
      return { artifactUpdate: { ...event, artifact: newArtifact(event.artifact, "artifact") } };
    default:
      throw new Malformed("kind", "must be one of task, message, status-update, artifact-update");
  }
}

/** `last`: whether this is the last event of its stream. */
export function oldEvent({ kind, value }: AgentEvent, last: boolean): JsonObject {
  switch (kind) {
    case "task":
      return oldTask(value);
    case "message":
      return oldMessage(value, "message");
    case "statusUpdate":
      return {
        kind: "status-update",
        ...value,
        contextId: value.contextId ?? value.taskId,
        status: oldStatus(value.status, "status"),
        final: last,
      };
    case "artifactUpdate":
      return {
        kind: "artifact-update",
        ...value,
        contextId: value.contextId ?? value.taskId,
        artifact: oldArtifact(value.artifact, "artifact"),
      };
  }
}
