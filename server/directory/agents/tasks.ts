import type { SecretBox } from "../../kernel/secrets.ts";
import { ulid } from "../../kernel/ids.ts";
import { type Semaphore, semaphore } from "../../kernel/scheduling/semaphore.ts";
import { pushSecretsContext } from "../../kernel/seal-contexts.ts";
import {
  endDelivery,
  type DueDelivery,
  keepWatch,
  type PushBody,
  postponeDelivery,
  pushConfigs,
  type PushConfigRow,
  putPushConfig,
  removePushConfig,
  takeDeliveries,
  takeWatches,
  queuePushNotifications,
  type ReportedStatus,
} from "../../store/agents/agent-pushes.ts";
import { claimOwedCost, renewCostClaim, settleCostClaims } from "../../store/agents/agent-cost-claims.ts";
import {
  countTaskCost,
  type DueCost,
  noteReportedCost,
  restartTaskCost,
  resumeTaskCost,
  takeDueCosts,
} from "../../store/agents/agent-costs.ts";
import { keepContext, ownContext } from "../../store/agents/agent-contexts.ts";
import {
  type AgentTaskInsert,
  type AgentTaskRow,
  listOwnTasks,
  ownTask,
  pruneTasks,
  putTask,
  type StatesAround,
  type TaskKey,
  type TaskListing,
  type TaskScope,
} from "../../store/agents/agent-tasks.ts";
import { readsAsGood } from "../../store/credentials/credential-reads.ts";
import type { Database } from "../../store/database.ts";
import type { TenantTurns } from "../../kernel/scheduling/tenant-work.ts";

export type { DueCost } from "../../store/agents/agent-costs.ts";
export type { AgentTaskRow, TaskKey, TaskScope } from "../../store/agents/agent-tasks.ts";

/** A push notification target. Its token and credentials are decrypted only here. */
export interface PushConfig {
  readonly id: string;
  readonly url: string;
  readonly token: string | null;
  readonly scheme: string | null;
  readonly credentials: string | null;
  readonly version: "1.0" | "0.3";
}

/** Thousands of tasks may end at once. Their writes queue here instead of exhausting the connection pool for everything else. */
const WRITES = { most: 5, mostOfOne: 4, waitMs: 30_000 };

export interface Delivery extends PushConfig {
  readonly deliveryId: string;
  readonly tenantId: string;
  readonly agentId: string;
  readonly taskId: string;
  readonly owner: Pick<AgentTaskRow, "tenant_id" | "agent_id" | "owner_kind" | "owner_id" | "resource_group_id">;
  readonly body: string;
  /** The notification without message content, sent instead when guardrails apply; null if `body` already holds none. */
  readonly brief: string | null;
  /** Includes this attempt. */
  readonly attempts: number;
}

/** Callers' tasks at agents, their contexts and push notifications. Everything is kept in the database, so that any process can answer. */
export class AgentTasks {
  private readonly db: Database;
  private readonly secrets: SecretBox;
  private readonly writes: Semaphore = semaphore(WRITES);

  constructor(db: Database, secrets: SecretBox) {
    this.db = db;
    this.secrets = secrets;
  }

  find(scope: TaskScope, id: string): Promise<AgentTaskRow | undefined> {
    return ownTask(this.db, scope, id);
  }

  /** See `putTask` in the store. */
  put(row: AgentTaskInsert, states: StatesAround): Promise<boolean> {
    return this.written(row.tenant_id, () => putTask(this.db, row, states));
  }

  /** See `countTaskCost` in the store. */
  countCost(task: TaskKey, reported: number, own: number, rowId: string): Promise<number | undefined> {
    return this.written(task.tenant_id, () => countTaskCost(this.db, task, reported, own, rowId));
  }

  /** See `restartTaskCost` in the store. */
  restartCost(task: TaskKey): Promise<number> {
    return this.written(task.tenant_id, () => restartTaskCost(this.db, task));
  }

  /** See `resumeTaskCost` in the store. */
  resumeCost(task: TaskKey, counted: number): Promise<void> {
    return this.written(task.tenant_id, () => resumeTaskCost(this.db, task, counted));
  }

  /** See `noteToldCost` in the store. */
  noteCost(task: TaskKey, micros: number, afterMs: number): Promise<void> {
    return this.written(task.tenant_id, () => noteReportedCost(this.db, task, micros, afterMs));
  }

  takeDueCosts(most: number, leaseMs: number): Promise<DueCost[]> {
    return takeDueCosts(this.db, most, leaseMs);
  }

  /** See `claimOwedCost` in the store. */
  claimCost(task: TaskKey, rowId: string, micros: number): Promise<boolean> {
    return claimOwedCost(this.db, task, rowId, micros);
  }

  /** See `renewCostClaim` in the store. */
  renewCost(task: TaskKey, rowId: string): Promise<void> {
    return this.written(task.tenant_id, () => renewCostClaim(this.db, task, rowId));
  }

  /** See `settleCostClaims` in the store. */
  settleCostClaims(most: number): Promise<void> {
    return settleCostClaims(this.db, most);
  }

  list(scope: TaskScope, listing: TaskListing): ReturnType<typeof listOwnTasks> {
    return listOwnTasks(this.db, scope, listing);
  }

  /** The agent's own ID of a context; undefined if the owner has no such context. */
  upstreamContext(scope: TaskScope, contextId: string): Promise<string | undefined> {
    return ownContext(this.db, scope, contextId);
  }

  /** Returns false if the agent already gave this context to another owner. */
  keepContext(scope: TaskScope, contextId: string, upstreamId: string): Promise<boolean> {
    return this.written(scope.tenantId, () => keepContext(this.db, scope, contextId, upstreamId));
  }

  async pushConfigs(task: TaskKey): Promise<PushConfig[]> {
    return (await pushConfigs(this.db, task)).map((row) => this.opened(row, row.task_id, row.id));
  }

  /** Generates an ID if none is given. */
  async putPushConfig(task: TaskKey, config: Omit<PushConfig, "id"> & { readonly id: string | null }): Promise<PushConfig> {
    const id = config.id ?? ulid();
    const { token, credentials, url, scheme, version } = config;
    const sealed =
      token === null && credentials === null
        ? null
        : this.secrets.seal(JSON.stringify({ token, credentials }), pushSecretsContext(task.tenant_id, task.agent_id, task.id, id));
    await putPushConfig(this.db, {
      tenant_id: task.tenant_id,
      agent_id: task.agent_id,
      task_id: task.id,
      id,
      url,
      scheme,
      secrets_sealed: sealed,
      protocol_version: version,
    });
    return { ...config, id };
  }

  removePushConfig(task: TaskKey, id: string): Promise<void> {
    return removePushConfig(this.db, task, id);
  }

  /** See `tellPushConfigs` in the store. */
  queueNotifications(task: TaskKey, status: ReportedStatus | null, bodyIn: (version: "1.0" | "0.3") => PushBody): Promise<void> {
    return queuePushNotifications(this.db, task, status, (config) => bodyIn(config.protocol_version as "1.0" | "0.3"));
  }

  takeWatches(leaseMs: number, turns: TenantTurns, ended: readonly string[]): Promise<AgentTaskRow[]> {
    return takeWatches(this.db, leaseMs, turns, ended);
  }

  keepWatch(task: TaskKey, leaseMs: number): Promise<void> {
    return keepWatch(this.db, task, leaseMs);
  }

  async takeDeliveries(leaseMs: number, turns: TenantTurns): Promise<Delivery[]> {
    const due = await takeDeliveries(this.db, leaseMs, turns);
    return due.map((row) => ({
      ...this.opened(row, row.task_id, row.config_id),
      deliveryId: row.id,
      tenantId: row.tenant_id,
      agentId: row.agent_id,
      taskId: row.task_id,
      owner: row,
      body: row.body,
      brief: row.brief,
      attempts: Number(row.attempts),
    }));
  }

  endDelivery(id: string): Promise<void> {
    return endDelivery(this.db, id);
  }

  postponeDelivery(id: string, waitMs: number): Promise<void> {
    return postponeDelivery(this.db, id, waitMs);
  }

  /** See `readsAsGood` in the store. */
  isCredentialGood(tenantId: string, of: Parameters<typeof readsAsGood>[2]): Promise<boolean> {
    return readsAsGood(this.db, tenantId, of);
  }

  prune(): Promise<void> {
    return pruneTasks(this.db);
  }

  private async written<T>(tenantId: string, write: () => Promise<T>): Promise<T> {
    const release = await this.writes(tenantId);
    try {
      return await write();
    } finally {
      release?.();
    }
  }

  private opened(
    row: Pick<PushConfigRow | DueDelivery, "tenant_id" | "agent_id" | "url" | "scheme" | "secrets_sealed" | "protocol_version">,
    taskId: string,
    id: string,
  ): PushConfig {
    const opened = this.secrets.openOrNull(row.secrets_sealed, pushSecretsContext(row.tenant_id, row.agent_id, taskId, id));
    const { token = null, credentials = null } =
      opened === null ? {} : (JSON.parse(opened) as { token?: string | null; credentials?: string | null });
    return { id, url: row.url, scheme: row.scheme, token, credentials, version: row.protocol_version as "1.0" | "0.3" };
  }
}
