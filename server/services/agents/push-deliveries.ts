import type { AgentTasks, Delivery } from "../../directory/agents/tasks.ts";
import { detachedJws } from "../../directory/agents/card-signature.ts";
import type { Snapshots } from "../../directory/snapshots.ts";
import type { Clock } from "../../kernel/clock.ts";
import { isRefusal } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { AgentSend } from "../../upstreams/agents/agent-send.ts";

interface DeliveryParts {
  readonly tasks: AgentTasks;
  readonly snapshots: Pick<Snapshots, "tenant">;
  readonly send: AgentSend;
  readonly clock: Clock;
  readonly log: Log;
}

const MOST_AT_ONCE = 20;
const TIMEOUT_MS = 15_000;
/** Longer than one delivery can take: then another process tries. */
const TAKEN_MS = 60_000;
/** After each attempt that failed; when they are over, so is the delivery. */
const WAITS_MS = [1_000, 5_000, 30_000, 120_000, 600_000, 1_800_000];
const SCHEME = /^[A-Za-z][\w.~+/-]{0,63}$/;
const SENDABLE = /^[\x20-\x7e]*$/;

/**
 * Delivers notifications: in order for each who is told, signed with the tenant's key, again where nobody took them. Whoever
 * receives one twice tells by its id.
 */
export class PushDeliveries {
  private readonly parts: DeliveryParts;

  constructor(parts: DeliveryParts) {
    this.parts = parts;
  }

  async deliver(): Promise<void> {
    const { tasks, clock } = this.parts;
    for (;;) {
      const due = await tasks.takeDeliveries(clock.now() + TAKEN_MS, MOST_AT_ONCE);
      if (due.length === 0) return;
      await Promise.all(due.map((one) => this.attempt(one)));
    }
  }

  private async attempt(delivery: Delivery): Promise<void> {
    const { tasks, clock, log } = this.parts;
    const failed = await this.post(delivery);
    if (failed === null) return tasks.endDelivery(delivery.deliveryId);
    const wait = WAITS_MS[delivery.attempts - 1];
    if (wait !== undefined) return tasks.postponeDelivery(delivery.deliveryId, clock.now() + wait);
    log.warn("agent_notification_given_up", { tenant_id: delivery.tenantId, agent_id: delivery.agentId, reason: failed });
    return tasks.endDelivery(delivery.deliveryId);
  }

  /** Why it was not taken; null when it was. */
  private async post({ url, body, version, token, scheme, credentials, deliveryId, tenantId }: Delivery): Promise<string | null> {
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
    if (isRefusal(response)) return response.message;
    // What a receiver says beside its status is nobody's business, and may have no end.
    abort.abort();
    await response.body?.cancel().catch(() => undefined);
    return response.ok ? null : `the receiver answered ${response.status}`;
  }
}
