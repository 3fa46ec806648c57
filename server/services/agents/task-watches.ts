import type { AgentEntry } from "../../directory/agents/agent-entry.ts";
import type { AgentTaskRow, AgentTasks } from "../../directory/agents/tasks.ts";
import type { Snapshots } from "../../directory/snapshots.ts";
import type { Clock } from "../../kernel/clock.ts";
import { isRefusal } from "../../kernel/errors.ts";
import { storableText } from "../../kernel/text/storable.ts";
import type { Log } from "../../kernel/log.ts";
import type { Gates } from "../../road/gates.ts";
import type { AgentEvents, AgentUpstream } from "../../upstreams/agents/agent-client.ts";
import { type AgentEvent, INTERRUPTED_STATES, stateOf, statesAround, TERMINAL_STATES } from "../../wire/a2a/shapes.ts";
import { FoldedTask } from "../../wire/a2a/folded-task.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { isOwnerGuarded } from "./guarded-owner.ts";
import { nameAsOwn } from "./own-context.ts";
import { knownTask, statusTime } from "./own-tasks.ts";
import { PacedWrites } from "./paced-writes.ts";
import { queueNotifications } from "./push-configs.ts";
import { costReportedIn } from "./reported-cost.ts";
import type { TaskOwner } from "./task-owner.ts";
import { withoutContent } from "./without-content.ts";

interface WatchParts {
  readonly tasks: AgentTasks;
  readonly snapshots: Pick<Snapshots, "tenant" | "scope">;
  readonly gates: Pick<Gates, "inspects">;
  readonly upstream: AgentUpstream;
  readonly hasAccessNow: (owner: TaskOwner) => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Log;
}

/** `folded`: null if events may be passed on only after inspection. */
interface Watched {
  readonly row: AgentTaskRow;
  folded: FoldedTask | null;
  /** False if the tenant stores no bodies. */
  readonly isKept: boolean;
  /** False if the task's owner no longer has access: nobody is told anything then, and only the cost is noted. */
  readonly hasAccess: boolean;
  readonly writes: PacedWrites;
  /** The last event with a status. */
  said: JsonObject;
  /** As last stored. */
  state: string | null;
  movedAt: number;
  isGone: boolean;
}

/** The gateway itself ended the watch: it is resumed, here or elsewhere, as soon as possible. */
class GivesWay extends Error {}

const MAX_CONCURRENT = 400;
/** Per tenant, so that one tenant's endless tasks leave room for others. */
const MAX_PER_TENANT = 200;
/** If a watch is not renewed within this time, another process takes it over. */
const LEASE_MS = 30_000;
const RENEWAL_INTERVAL_MS = 10_000;
/** When all of a tenant's places are taken, watches older than this yield to waiting tasks: an agent may never report the end of a task. */
const TURN_MS = 60_000;
/** An agent that cannot be subscribed to, or ended the stream, is polled again after a tenth of the time since the task last changed. */
const POLL_DELAY_MS = { part: 0.1, least: 2_000, most: 60_000 };
/** A task whose owner no longer has access is looked at again after this time. */
const ACCESS_RECHECK_MS = 60_000;

/** How long after a cost was noted only by the watch it gets its own row; longer for a running task, whose cost may still grow. */
const COST_ROW_DELAY_MS = { ended: 5_000, underWay: 600_000 };

const askAgainAfterMs = (stoodMs: number): number =>
  Math.min(Math.max(POLL_DELAY_MS.least, stoodMs * POLL_DELAY_MS.part), POLL_DELAY_MS.most);

/**
 * Follows tasks that have push subscribers, and running tasks that nobody polls, whose cost would otherwise be lost. No client needs to be
 * connected. One process follows each task, under a lease in the database, and queues events for `PushDeliveries`. If guardrails or
 * policies inspect what agents say to the owner's group, events are queued without content: a subscriber then fetches the task in a
 * governed call. If the owner no longer has access, the agent still bills for the task: its state and cost are noted, and nothing is queued.
 */
export class TaskWatches {
  private readonly parts: WatchParts;
  /** In order of age, the oldest first. */
  private readonly watched = new Map<string, { readonly tenantId: string; readonly abort: AbortController; readonly since: number }>();

  constructor(parts: WatchParts) {
    this.parts = parts;
  }

  async poll(): Promise<void> {
    const { tasks, clock } = this.parts;
    const most = MAX_CONCURRENT - this.watched.size;
    const underWay = new Map<string, number>();
    for (const { tenantId } of this.watched.values()) underWay.set(tenantId, (underWay.get(tenantId) ?? 0) + 1);
    for (const { tenantId, abort, since } of this.watched.values())
      if ((most <= 0 || (underWay.get(tenantId) ?? 0) >= MAX_PER_TENANT) && since <= clock.now() - TURN_MS)
        abort.abort(new GivesWay("other tasks wait to be watched"));
    if (most <= 0) return;
    const turns = { most, mostOfOne: MAX_PER_TENANT, underWay };
    for (const row of await tasks.takeWatches(LEASE_MS, turns, [...TERMINAL_STATES])) void this.watch(row);
  }

  close(): void {
    for (const { abort } of this.watched.values()) abort.abort(new GivesWay("the gateway stops"));
  }

  private async watch(row: AgentTaskRow): Promise<void> {
    const { tasks, snapshots, hasAccessNow, clock, log } = this.parts;
    const key = JSON.stringify([row.tenant_id, row.agent_id, row.id]);
    const abort = new AbortController();
    this.watched.set(key, { tenantId: row.tenant_id, abort, since: clock.now() });
    let again: number | null = null;
    let movedAt = row.updated_at.getTime();
    let hasAccess = true;
    const renew = async () => {
      if ((await hasAccessNow(row)) !== hasAccess) return abort.abort(new GivesWay("the access of the task's owner has changed"));
      await tasks.keepWatch(row, LEASE_MS);
    };
    const renewing = setInterval(() => void renew().catch(() => undefined), RENEWAL_INTERVAL_MS);
    try {
      hasAccess = await hasAccessNow(row);
      if (!hasAccess) again = ACCESS_RECHECK_MS;
      const tenant = await snapshots.tenant(row.tenant_id);
      const agent = tenant?.agents.byId.get(row.agent_id);
      if (tenant?.enabled !== true || agent?.enabled !== true) return;
      const isGuarded = await isOwnerGuarded(row, this.parts);
      if (isGuarded === null) return;
      // The owner received the end of the task before a watch began.
      if (TERMINAL_STATES.has(row.state)) {
        if (!hasAccess) return;
        const known = knownTask(row);
        return await queueNotifications(row, { kind: "task", value: isGuarded ? withoutContent(known) : known }, this.parts);
      }
      if (agent.reached === null) return;
      const watched: Watched = {
        row,
        isKept: tenant.storeBodies !== "none",
        hasAccess,
        folded: isGuarded || !hasAccess ? null : new FoldedTask(row.task === null ? null : (JSON.parse(row.task) as JsonObject)),
        writes: new PacedWrites(() => this.keep(watched)),
        said: {},
        state: null,
        movedAt,
        isGone: false,
      };
      try {
        await (agent.reached.streaming ? this.follow(agent, watched, abort) : this.ask(agent, watched, abort));
      } finally {
        await watched.writes.end();
        ({ movedAt } = watched);
      }
    } catch (error) {
      log.warn("agent_task_not_watched", { tenant_id: row.tenant_id, agent_id: row.agent_id, error: error as Error });
    } finally {
      clearInterval(renewing);
      this.watched.delete(key);
      again ??= abort.signal.reason instanceof GivesWay ? POLL_DELAY_MS.least : askAgainAfterMs(clock.now() - movedAt);
      await tasks.keepWatch(row, again).catch(() => undefined);
    }
  }

  private async follow(agent: AgentEntry, watched: Watched, abort: AbortController): Promise<void> {
    const request = { agent, params: { id: watched.row.id }, headers: {}, abort };
    const events = await this.parts.upstream.stream({ ...request, operation: "SubscribeToTask" });
    // Agents refuse to stream a task that has ended, so its result is fetched.
    if (isRefusal(events)) return this.ask(agent, watched, abort);
    if (!(await this.each(watched, events)) && !abort.signal.aborted) await this.ask(agent, watched, abort);
  }

  /** Resolves to true when the task has ended or waits for its caller. */
  private async each(watched: Watched, events: AgentEvents): Promise<boolean> {
    try {
      for (;;) {
        const step = await events.next();
        if (step.done === true) return false;
        if (await this.told(watched, step.value)) return true;
      }
    } finally {
      await events.return(null).catch(() => undefined);
    }
  }

  private async ask(agent: AgentEntry, watched: Watched, abort: AbortController): Promise<void> {
    const event = await this.parts.upstream.ask({ agent, operation: "GetTask", params: { id: watched.row.id }, headers: {}, abort });
    if (!isRefusal(event)) await this.told(watched, event);
  }

  private async told(watched: Watched, event: AgentEvent): Promise<boolean> {
    const { row, writes } = watched;
    const { kind, value } = event;
    if (kind === "message" || (kind === "task" ? value.id : value.taskId) !== row.id) return false;
    // Guardrails may be added while a task is watched.
    if (watched.folded !== null && (await isOwnerGuarded(row, this.parts)) !== false) watched.folded = null;
    const { folded } = watched;
    await this.noteCost(row, value);
    nameAsOwn(event, row.context_id, row.id);
    const stored: AgentEvent = { kind, value: folded === null ? withoutContent(value) : value };
    folded?.take(stored);
    if (watched.hasAccess) await queueNotifications(row, stored, this.parts);
    if (kind === "artifactUpdate") {
      watched.movedAt = this.parts.clock.now();
      return false;
    }
    const state = stateOf(value);
    watched.said = value;
    await (state === watched.state ? writes.soon() : writes.now());
    return watched.isGone || TERMINAL_STATES.has(state) || INTERRUPTED_STATES.has(state);
  }

  /** Notes the cost with a delay, so that a call which receives the same report can count it first. */
  private async noteCost(row: AgentTaskRow, value: JsonObject): Promise<void> {
    const micros = costReportedIn(value);
    if (micros === null) return;
    const state = isObject(value.status) ? stateOf(value) : "";
    const stands = TERMINAL_STATES.has(state) || INTERRUPTED_STATES.has(state);
    await this.parts.tasks.noteCost(row, micros, stands ? COST_ROW_DELAY_MS.ended : COST_ROW_DELAY_MS.underWay);
  }

  private async keep(watched: Watched): Promise<void> {
    const { row, folded, isKept, said: value } = watched;
    const { tasks, clock, log } = this.parts;
    try {
      const state = stateOf(value);
      const now = clock.now();
      watched.state = state;
      // A task erased or pruned meanwhile is not recreated.
      const owner = { tenantId: row.tenant_id, agentId: row.agent_id, ownerId: row.owner_id };
      const known = await tasks.find(owner, row.id);
      watched.isGone = known === undefined;
      if (known === undefined) return;
      // Content that its owner received stays while the state is unchanged.
      const inspectedTask = known.state === state ? known.task : null;
      const storedTask = folded === null ? inspectedTask : folded.value === null ? null : storableText(JSON.stringify(folded.value));
      const task = isKept ? storedTask : null;
      const isSame = known.state === state && known.task === task;
      const at = statusTime(value, now, isSame ? known.status_at.getTime() : now);
      watched.movedAt = Math.max(watched.movedAt, known.updated_at.getTime());
      // Not updated, so that a task which no longer changes is eventually pruned even if it is polled.
      if (isSame && at <= known.status_at) return;
      await tasks.put({ ...row, state, status_at: at, updated_at: new Date(now), task }, statesAround(state));
      watched.movedAt = now;
    } catch (error) {
      log.warn("agent_task_not_stored", { tenant_id: row.tenant_id, agent_id: row.agent_id, error: error as Error });
    }
  }
}
