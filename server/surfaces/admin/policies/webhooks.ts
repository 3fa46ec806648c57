import { webhook, webhookCreate, webhookQuery, webhookTest, webhookUpdate } from "@gatehouse/contracts/webhooks";
import { testWebhook, webhooks } from "../../../directory/webhooks/webhooks.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, resource } from "../resource.ts";

const PATH = "/v1/admin/webhooks";
const TAG = "Webhooks";

export const webhookOperations: readonly AdminOperation[] = [
  ...resource({
    path: PATH,
    key: "webhooks",
    noun: "webhook",
    tag: TAG,
    area: "policies",
    table: "webhooks",
    records: webhooks,
    query: webhookQuery,
    create: webhookCreate,
    update: webhookUpdate,
    read: webhook,
    notes: {
      create: "Alerts, requests for approval and drift findings of the tenant are sent to its address, and retried for a day and a half.",
    },
  }),
  operation({
    tag: TAG,
    access: "policies:write",
    reach: "one",
    method: "POST",
    path: `${PATH}/{id}/test`,
    subject: "webhooks",
    summary: "Send a test message",
    description: "Queues it; `last_delivered_at` or `last_error` say what became of it, within seconds.",
    answer: { status: 202, about: "It is queued", schema: webhookTest },
    run: (call) => testWebhook(call.services.directory, call.tenantId, idOf(call)),
  }),
];
