import { type Webhook, WEBHOOK_EVENTS, type WebhookCreate, type WebhookQuery, type WebhookUpdate } from "@gatehouse/contracts/webhooks";
import { uuid } from "../../kernel/ids.ts";
import { sealContext, type SecretBox } from "../../kernel/secrets.ts";
import { queueWebhookMessage } from "../../store/policies/webhook-deliveries.ts";
import { webhookIdByName, type WebhookInsert, type WebhookPatch, type WebhookRow, webhookStore } from "../../store/policies/webhooks.ts";
import { invalidField, records } from "../writes/records.ts";
import type { Directory } from "../writes/write.ts";

export const TEST_EVENT = "webhook.test";

/** Where messages go, and what they are signed with. */
export interface WebhookEndpoint {
  readonly url: string;
  readonly signingSecret: string | null;
}

function sealed(secrets: SecretBox, id: string, endpoint: WebhookEndpoint) {
  return {
    endpoint_sealed: secrets.seal(JSON.stringify(endpoint), sealContext("webhooks", id)),
    url_origin: new URL(endpoint.url).origin,
    has_signing_secret: endpoint.signingSecret !== null,
  };
}

/** Null if it was sealed with another secret key. */
export function endpointOf(secrets: SecretBox, id: string, endpointSealed: string): WebhookEndpoint | null {
  const opened = secrets.openOrNull(endpointSealed, sealContext("webhooks", id));
  return opened === null ? null : (JSON.parse(opened) as WebhookEndpoint);
}

const read = (row: WebhookRow): Webhook => ({
  id: row.id,
  tenant_id: row.tenant_id,
  name: row.name,
  format: row.format as Webhook["format"],
  has_url: true,
  url_origin: row.url_origin,
  has_signing_secret: row.has_signing_secret,
  events: row.events as Webhook["events"],
  enabled: row.enabled,
  last_delivered_at: row.last_delivered_at?.toISOString() ?? null,
  last_failed_at: row.last_failed_at?.toISOString() ?? null,
  last_error: row.last_error,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

export const webhooks = records<WebhookRow, WebhookInsert, WebhookPatch, Webhook, WebhookCreate, WebhookUpdate, WebhookQuery, string>({
  resource: "webhooks",
  noun: "webhook",
  store: webhookStore,
  read,
  tenantOf: (row) => row.tenant_id,
  takenBy: (write, tenantId, { name }) => webhookIdByName(write.trx, tenantId, name),
  async toInsert(write, tenantId, { url, signing_secret: signingSecret = null, name, format, events, enabled }) {
    const id = uuid();
    return {
      ...{ id, tenant_id: tenantId, name, format: format ?? "standard", events: [...(events ?? WEBHOOK_EVENTS)] },
      ...(enabled === undefined ? {} : { enabled }),
      ...sealed(write.directory.secrets, id, { url, signingSecret }),
      ...{ last_error: null, created_at: write.now, updated_at: write.now },
    };
  },
  async toPatch(write, _tenantId, row, { url, signing_secret: signingSecret, ...rest }) {
    const patch = { ...rest, updated_at: write.now };
    if (url === undefined && signingSecret === undefined) return patch;
    const { secrets } = write.directory;
    const before = endpointOf(secrets, row.id, row.endpoint_sealed);
    const after = { url: url ?? before?.url, signingSecret: signingSecret === undefined ? (before?.signingSecret ?? null) : signingSecret };
    if (after.url === undefined) throw invalidField("url", "must be sent again, because the stored one cannot be decrypted");
    // A secret that its administrator may not read must not sign messages to somebody else.
    if (row.has_signing_secret && signingSecret === undefined && new URL(after.url).origin !== row.url_origin)
      throw invalidField("signing_secret", "must be sent again when url moves to another host");
    const isSame = before !== null && before.url === after.url && before.signingSecret === after.signingSecret;
    return isSame ? patch : { ...patch, ...sealed(secrets, row.id, { url: after.url, signingSecret: after.signingSecret }) };
  },
  dependents: async () => [],
  notify: () => undefined,
});

/** Queues a message that says only that it is a test. Throws `Refused` if there is no such webhook. */
export async function testWebhook(directory: Directory, tenantId: string, id: string): Promise<{ queued: true }> {
  const { name } = await webhooks.get(directory, tenantId, id);
  await queueWebhookMessage(directory.db, { id, tenant_id: tenantId }, TEST_EVENT, { name });
  return { queued: true };
}
