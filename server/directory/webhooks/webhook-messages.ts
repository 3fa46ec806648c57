import type { Webhook } from "@gatehouse/contracts/webhooks";
import type { SecretBox } from "../../kernel/secrets.ts";
import type { Database } from "../../store/database.ts";
import {
  endWebhookDelivery,
  postponeWebhookDelivery,
  takeWebhookDeliveries,
  type WebhookDeliveryRow,
} from "../../store/policies/webhook-deliveries.ts";
import type { TenantTurns } from "../../kernel/scheduling/tenant-work.ts";
import { endpointOf, type WebhookEndpoint } from "./webhooks.ts";

/** A message to deliver, leased to this process. */
export interface WebhookMessage {
  readonly id: string;
  readonly webhookId: string;
  readonly tenantId: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
  /** Including the next one. */
  readonly attempts: number;
  readonly format: Webhook["format"];
  readonly enabled: boolean;
  /** Null if it cannot be decrypted. */
  readonly endpoint: WebhookEndpoint | null;
}

/** The queue of messages to the webhooks of all tenants. */
export class WebhookMessages {
  private readonly db: Database;
  private readonly secrets: SecretBox;

  constructor(db: Database, secrets: SecretBox) {
    this.db = db;
    this.secrets = secrets;
  }

  async take(leaseMs: number, turns: TenantTurns): Promise<WebhookMessage[]> {
    return (await takeWebhookDeliveries(this.db, leaseMs, turns)).map((row) => this.messageOf(row));
  }

  /** `error`: why it was given up; null if it was delivered. */
  end({ id, webhookId }: WebhookMessage, error: string | null): Promise<void> {
    return endWebhookDelivery(this.db, { id, webhook_id: webhookId }, error);
  }

  postpone({ id, webhookId }: WebhookMessage, waitMs: number, error: string): Promise<void> {
    return postponeWebhookDelivery(this.db, { id, webhook_id: webhookId }, waitMs, error);
  }

  private messageOf(row: WebhookDeliveryRow): WebhookMessage {
    return {
      ...{ id: row.id, webhookId: row.webhook_id, tenantId: row.tenant_id, event: row.event, data: row.data },
      ...{ createdAt: row.created_at, attempts: Number(row.attempts), enabled: row.enabled },
      format: row.format as Webhook["format"],
      endpoint: endpointOf(this.secrets, row.webhook_id, row.endpoint_sealed),
    };
  }
}
