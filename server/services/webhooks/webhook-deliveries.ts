import type { WebhookMessage, WebhookMessages } from "../../directory/webhooks/webhook-messages.ts";
import type { Clock } from "../../kernel/clock.ts";
import { explained, isRefusal } from "../../kernel/errors.ts";
import { cancelQuietly } from "../../kernel/http/cancel-quietly.ts";
import type { Log } from "../../kernel/log.ts";
import { TenantWork } from "../../kernel/scheduling/tenant-work.ts";
import type { AddressSend } from "../../upstreams/address-send.ts";
import { webhookBody } from "./webhook-body.ts";

interface WebhookParts {
  readonly messages: Pick<WebhookMessages, "take" | "end" | "postpone">;
  readonly send: AddressSend;
  readonly clock: Clock;
  readonly log: Log;
}

const MAX_CONCURRENT = 20;
/** Per tenant, so that one tenant's unresponsive receivers do not use up all places. */
const MAX_PER_TENANT = 4;
const TIMEOUT_MS = 10_000;
/** Longer than an attempt can take; after it another process tries. */
const LEASE_MS = 60_000;
const MINUTE_MS = 60_000;
/** Backoff after each failed attempt, as Standard Webhooks recommends; when exhausted, after a day and a half, the message is given up. */
const WAITS_MS = [5_000, 5 * MINUTE_MS, 30 * MINUTE_MS, 120 * MINUTE_MS, 300 * MINUTE_MS, 600 * MINUTE_MS, 840 * MINUTE_MS];
/** The receiver wants no more messages. */
const GONE = 410;

/** Delivers messages to webhooks at least once, fairly between tenants. Receivers deduplicate by ID. */
export class WebhookDeliveries {
  private readonly parts: WebhookParts;
  private readonly work: TenantWork<WebhookMessage>;

  constructor(parts: WebhookParts) {
    this.parts = parts;
    const { messages, log } = parts;
    this.work = new TenantWork({
      most: MAX_CONCURRENT,
      mostOfOne: MAX_PER_TENANT,
      take: (turns) => messages.take(LEASE_MS, turns),
      work: (one) => this.attempt(one).catch((error: Error) => log.warn("webhook_not_delivered", { tenant_id: one.tenantId, error })),
    });
  }

  deliver(): Promise<void> {
    return this.work.run();
  }

  private async attempt(message: WebhookMessage): Promise<void> {
    const { messages, log } = this.parts;
    if (!message.enabled) return messages.end(message, "the webhook is switched off");
    const failure = await this.post(message);
    if (failure === null) return messages.end(message, null);
    const wait = failure.isFinal ? undefined : WAITS_MS[message.attempts - 1];
    if (wait !== undefined) return messages.postpone(message, wait, failure.reason);
    log.warn("webhook_given_up", { tenant_id: message.tenantId, webhook_id: message.webhookId, reason: failure.reason });
    return messages.end(message, failure.reason);
  }

  /** Returns why the receiver did not take it; null on success. */
  private async post(message: WebhookMessage): Promise<{ readonly reason: string; readonly isFinal: boolean } | null> {
    const { endpoint } = message;
    if (endpoint === null) return { reason: "its address cannot be decrypted: store it again", isFinal: false };
    const { body, headers } = webhookBody(message, endpoint.signingSecret, this.parts.clock.now());
    const abort = new AbortController();
    const response = await this.parts.send({
      url: endpoint.url,
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
      abort,
      timeoutMs: TIMEOUT_MS,
    });
    if (isRefusal(response)) return { reason: explained(response), isFinal: false };
    // Only the status matters; the body may be endless.
    abort.abort();
    await cancelQuietly(response.body);
    return response.ok ? null : { reason: `the receiver answered ${response.status}`, isFinal: response.status === GONE };
  }
}
