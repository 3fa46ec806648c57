import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import type { AgentEvent } from "./shapes.ts";

/** Bytes. A larger task is not kept, so that an agent's endless stream cannot exhaust the memory. */
const MAX_BYTES = 8 * 1024 * 1024;

/** A task accumulated from the events of one stream. A stream starts with the whole task, so all its subscribers reach the same state. */
export class FoldedTask {
  private task: JsonObject | null;
  private size = 0;

  constructor(task: JsonObject | null) {
    this.task = task === null ? null : { ...task };
  }

  /** Null before the first event about the task, and if the task grew beyond the size limit. */
  get value(): JsonObject | null {
    return this.task !== null && this.size <= MAX_BYTES ? this.task : null;
  }

  take({ kind, value }: AgentEvent): void {
    this.size = kind === "task" ? JSON.stringify(value).length : this.size + JSON.stringify(value).length;
    if (kind === "task") this.task = { ...value };
    else if (kind === "statusUpdate") this.status(value);
    else if (kind === "artifactUpdate") this.artifact(value);
  }

  private begun({ taskId, contextId }: JsonObject): JsonObject {
    return (this.task ??= { id: taskId, ...(contextId === undefined ? {} : { contextId }), status: { state: "TASK_STATE_WORKING" } });
  }

  private status(update: JsonObject): void {
    const task = this.begun(update);
    const before = isObject(task.status) ? task.status.message : undefined;
    task.status = update.status;
    if (this.size > MAX_BYTES) return;
    // The message of the previous status becomes part of the history.
    if (isObject(before)) task.history = [...listOf(task.history), before];
    if (isObject(update.metadata)) task.metadata = { ...(isObject(task.metadata) ? task.metadata : {}), ...update.metadata };
  }

  private artifact(update: JsonObject): void {
    if (this.size > MAX_BYTES) return;
    const task = this.begun(update);
    const artifact = update.artifact as JsonObject;
    const artifacts = [...listOf(task.artifacts)];
    const at = artifacts.findIndex((one) => isObject(one) && one.artifactId === artifact.artifactId);
    const known = artifacts[at];
    if (at < 0) artifacts.push(artifact);
    else if (update.append === true && isObject(known))
      artifacts[at] = { ...known, parts: [...listOf(known.parts), ...listOf(artifact.parts)] };
    else artifacts[at] = artifact;
    task.artifacts = artifacts;
  }
}

function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** The task with only its newest `length` messages; null keeps all. */
export function withHistory(task: JsonObject, length: number | null): JsonObject {
  if (length === null || !Array.isArray(task.history)) return task;
  const { history, ...rest } = task;
  return length === 0 ? rest : { ...rest, history: history.slice(-length) };
}
