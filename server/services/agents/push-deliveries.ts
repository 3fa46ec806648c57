import type { AgentTasks, Delivery } from "../../directory/agents/tasks.ts";
import { detachedJws } from "../../directory/agents/card-signature.ts";
import type { Snapshots } from "../../directory/snapshots.ts";
import type { Clock } from "../../kernel/clock.ts";
import { explained, isRefusal } from "../../kernel/errors.ts";
import { cancelQuietly } from "../../kernel/http/cancel-quietly.ts";
import type { Log } from "../../kernel/log.ts";
import { TenantWork } from "../../kernel/scheduling/tenant-work.ts";
import type { Gates } from "../../road/gates.ts";
import type { AgentSend } from "../../upstreams/agents/agent-send.ts";
import { isOwnerGuarded } from "./guarded-owner.ts";
import type { TaskOwner } from "./task-owner.ts";

interface DeliveryParts {
  readonly tasks: AgentTasks;
  readonly snapshots: Pick<Snapshots, "tenant" | "scope">;
  readonly gates: Pick<Gates, "inspects">;
  readonly send: AgentSend;
  readonly hasAccessNow: (owner: TaskOwner) => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Log;
}

const MAX_CONCURRENT = 100;
/** Per tenant, so that one tenant's unresponsive receivers do not use up all places. */
const MAX_PER_TENANT = 10;
const TIMEOUT_MS = 15_000;
/** Lease of a delivery, longer than an attempt can take; after it another process tries. */
const LEASE_MS = 60_000;
/** Backoff after each failed attempt; when exhausted, the delivery is given up. */
const WAITS_MS = [1_000, 5_000, 30_000, 120_000, 600_000, 1_800_000];
const SCHEME = /^[A-Za-z][\w.~+/-]{0,63}$/;
const SENDABLE = /^[\x20-\x7e]*$/;

/**
 * Delivers push notifications for owners who still have access to the agent: in order per subscriber, fairly between tenants, signed with
 * the tenant's key, and retried with backoff. Delivery is at least once; receivers deduplicate by ID. Notifications queued before
 * guardrails applied are sent without content.
 */
export class PushDeliveries {
  private readonly parts: DeliveryParts;
  private readonly work: TenantWork<Delivery>;

  constructor(parts: DeliveryParts) {
    this.parts = parts;
    const { tasks, log } = parts;
    this.work = new TenantWork({
      most: MAX_CONCURRENT,
      mostOfOne: MAX_PER_TENANT,
      take: (turns) => tasks.takeDeliveries(LEASE_MS, turns),
      work: (one) => this.attempt(one).catch((error: Error) => log.warn("agent_notification_failed", { tenant_id: one.tenantId, error })),
    });
  }

  deliver(): Promise<void> {
    return this.work.run();
  }

  private async attempt(delivery: Delivery): Promise<void> {
    const { tasks, log } = this.parts;
    if (!(await this.parts.hasAccessNow(delivery.owner))) return tasks.endDelivery(delivery.deliveryId);
    const isGuarded = (await isOwnerGuarded(delivery.owner, this.parts)) !== false;
    const failed = await this.post(delivery, isGuarded ? (delivery.brief ?? delivery.body) : delivery.body);
    if (failed === null) return tasks.endDelivery(delivery.deliveryId);
    const wait = WAITS_MS[delivery.attempts - 1];
    if (wait !== undefined) return tasks.postponeDelivery(delivery.deliveryId, wait);
    log.warn("agent_notification_given_up", { tenant_id: delivery.tenantId, agent_id: delivery.agentId, reason: failed });
    return tasks.endDelivery(delivery.deliveryId);
  }

  /** Returns why the receiver did not accept it; null on success. */
  private async post(delivery: Delivery, body: string): Promise<string | null> {
    const { url, version, token, scheme, credentials, deliveryId, tenantId } = delivery;
    const tenant = await this.parts.snapshots.tenant(tenantId);
    const [key] = tenant?.agents.keys ?? [];
    if (key === undefined) return "the tenant has no key";
    const signature = detachedJws(body, key, { jti: deliveryId, iat: Math.floor(this.parts.clock.now() / 1000) });
    const authorization = scheme !== null && SCHEME.test(scheme) ? `${scheme} ${credentials ?? ""}`.trim() : null;
    const abort = new AbortController();
    const response = await this.parts.send({
      url,
      method: "POST",
      headers: {
        "content-type": version === "1.0" ? "application/a2a+json" : "application/json",
        "a2a-version": version,
        "x-gw-notification-id": deliveryId,
        "x-gw-notification-signature": `${signature.protected}..${signature.signature}`,
        ...(authorization !== null && SENDABLE.test(authorization) ? { authorization } : {}),
        ...(token !== null && SENDABLE.test(token) ? { "x-a2a-notification-token": token } : {}),
      },
      body,
      abort,
      timeoutMs: TIMEOUT_MS,
    });
    if (isRefusal(response)) return explained(response);
    // Only the status matters; the body may be endless.
    abort.abort();
    await cancelQuietly(response.body);
    return response.ok ? null : `the receiver answered ${response.status}`;
  }
}
