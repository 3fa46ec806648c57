import { type Selectable, sql } from "kysely";
import type { Database } from "../database.ts";
import type { TenantTurns } from "../../kernel/scheduling/tenant-work.ts";
import type { WebhookDeliveryTable } from "../tables/webhooks.ts";
import type { WebhookRow } from "./webhooks.ts";
import { inMs } from "../records/in-ms.ts";

export type WebhookDeliveryRow = Selectable<WebhookDeliveryTable> & Pick<WebhookRow, "format" | "endpoint_sealed" | "enabled">;

export async function queueWebhookMessage(
  db: Database,
  webhook: Pick<WebhookRow, "id" | "tenant_id">,
  event: string,
  data: object,
): Promise<void> {
  await db
    .insertInto("webhook_deliveries")
    .values({ webhook_id: webhook.id, tenant_id: webhook.tenant_id, event, data: JSON.stringify(data) })
    .execute();
}

/**
 * Leases due deliveries for `leaseMs`, taking turns between tenants, so that none waits for the unresponsive receivers of another. Within a
 * tenant the webhook that was tried longest ago comes first, so that one without answers does not hold up the others.
 */
export async function takeWebhookDeliveries(
  db: Database,
  leaseMs: number,
  { most, mostOfOne, underWay }: TenantTurns,
): Promise<WebhookDeliveryRow[]> {
  const { rows } = await sql<WebhookDeliveryRow>`
    WITH due AS (
      SELECT d.id FROM webhook_deliveries d JOIN (
        SELECT n.id, coalesce(busy.n, 0) + row_number() OVER (PARTITION BY n.tenant_id ORDER BY n.nth, n.tried_at NULLS FIRST, n.due_at) AS turn
        FROM (
          SELECT m.id, m.tenant_id, m.due_at, row_number() OVER (PARTITION BY m.webhook_id ORDER BY m.due_at) AS nth,
            greatest(w.last_delivered_at, w.last_failed_at) AS tried_at
          FROM webhook_deliveries m JOIN webhooks w ON w.id = m.webhook_id WHERE m.due_at <= now()) n
        LEFT JOIN unnest(${[...underWay.keys()]}::text[], ${[...underWay.values()]}::bigint[]) AS busy (tenant_id, n) USING (tenant_id)) waiting USING (id)
      WHERE d.due_at <= now() AND waiting.turn <= ${mostOfOne}
      ORDER BY waiting.turn, d.due_at LIMIT ${most} FOR UPDATE OF d SKIP LOCKED
    ), taken AS (
      UPDATE webhook_deliveries d SET due_at = ${inMs(leaseMs)}, attempts = d.attempts + 1 FROM due WHERE d.id = due.id RETURNING d.*
    )
    SELECT t.*, w.format, w.endpoint_sealed, w.enabled FROM taken t JOIN webhooks w ON w.id = t.webhook_id ORDER BY t.created_at`.execute(
    db,
  );
  return rows;
}

/** Removes a delivery, and notes at its webhook how it ended. */
export async function endWebhookDelivery(
  db: Database,
  { id, webhook_id }: Pick<WebhookDeliveryRow, "id" | "webhook_id">,
  error: string | null,
): Promise<void> {
  await db.deleteFrom("webhook_deliveries").where("id", "=", id).execute();
  await noteWebhookAttempt(db, webhook_id, error);
}

export async function postponeWebhookDelivery(
  db: Database,
  { id, webhook_id }: Pick<WebhookDeliveryRow, "id" | "webhook_id">,
  waitMs: number,
  error: string,
): Promise<void> {
  await db
    .updateTable("webhook_deliveries")
    .set({ due_at: inMs(waitMs) })
    .where("id", "=", id)
    .execute();
  await noteWebhookAttempt(db, webhook_id, error);
}

async function noteWebhookAttempt(db: Database, webhookId: string, error: string | null): Promise<void> {
  const now = sql<Date>`now()`;
  await db
    .updateTable("webhooks")
    .set(error === null ? { last_delivered_at: now } : { last_failed_at: now, last_error: error })
    .where("id", "=", webhookId)
    .execute();
}
