import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import type { AgentRoute } from "../../road/target.ts";
import type { AgentEvent } from "../../wire/a2a/shapes.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import type { AgentParts } from "./agent-parts.ts";
import { taskScope } from "./own-tasks.ts";

/** A context's name for the caller and for the agent. Null: the agent will create the context. */
export interface ContextNames {
  readonly own: string | null;
  readonly upstream: string | null;
}

const UUID_PARTS = [8, 4, 4, 4, 12];

/**
 * Maps the caller's context name to the agent's. A new name is derived from its owner, so that two callers who choose the same name do not
 * share a context.
 */
export async function contextNames(
  call: Call,
  route: AgentRoute,
  own: string | null,
  { tasks, secrets }: AgentParts,
): Promise<ContextNames> {
  if (own === null) return { own, upstream: null };
  const scope = taskScope(call, route);
  const known = await tasks.upstreamContext(scope, own);
  if (known !== undefined) return { own, upstream: known };
  const digest = secrets.hmac("agent-context", JSON.stringify([scope.tenantId, scope.agentId, scope.ownerId, own]));
  let at = 0;
  return { own, upstream: UUID_PARTS.map((length) => digest.slice(at, (at += length))).join("-") };
}

/** Checks that an agent's events belong to the requested task and context, and translates their names into the caller's. */
export class OwnNames {
  private names: ContextNames;
  private task: string | null;
  private readonly call: Call;
  private readonly route: AgentRoute;
  private readonly parts: AgentParts;

  /** `task`: the task of the request; null if the request begins one. */
  constructor(call: Call, route: AgentRoute, names: ContextNames, task: string | null, parts: AgentParts) {
    this.call = call;
    this.route = route;
    this.names = names;
    this.task = task;
    this.parts = parts;
  }

  /** Changes the event in place. Returns a refusal if it belongs to another task or context. */
  async take({ kind, value }: AgentEvent): Promise<Refusal | null> {
    const wrong = (reason: string) => refuse("agent_invalid_response", undefined, { reason });
    const taskId = kind === "task" ? value.id : value.taskId;
    if (kind !== "message") {
      if (this.task !== null && taskId !== this.task) return wrong("the agent speaks of another task than the one it was asked for");
      this.task = String(taskId);
    } else if (taskId !== undefined && this.task !== null && taskId !== this.task)
      return wrong("the agent's message belongs to another task");
    const upstream = typeof value.contextId === "string" ? value.contextId : null;
    if (upstream !== null && this.names.upstream !== null && upstream !== this.names.upstream)
      return wrong("the agent put the task into another context than the one it was sent in");
    if (this.names.own === null || this.names.upstream === null) {
      const made = upstream ?? this.task ?? crypto.randomUUID();
      this.names = { own: made, upstream: made };
    }
    const { own, upstream: agents } = this.names as { readonly own: string; readonly upstream: string };
    if (!this.kept) {
      if (!(await this.parts.tasks.keepContext(taskScope(this.call, this.route), own, agents)))
        return wrong("the agent names a context that it gave to another caller");
      this.kept = true;
    }
    nameAsOwn({ kind, value }, own, this.task);
    return null;
  }

  private kept = false;
}

/** Replaces the agent's context and task names by the caller's. Changes the event in place. */
export function nameAsOwn({ kind, value }: AgentEvent, contextId: string, taskId: string | null): void {
  value.contextId = contextId;
  const textOfMessage = (message: JsonValue | undefined) => {
    if (!isObject(message)) return;
    message.contextId = contextId;
    if (taskId !== null) message.taskId = taskId;
  };
  const { status, history } = value;
  if (kind === "task" && Array.isArray(history)) for (const message of history) textOfMessage(message);
  if (kind !== "message" && isObject(status)) textOfMessage((status as JsonObject).message);
}
