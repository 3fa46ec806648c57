import { z } from "zod";
import { pageQuery, recordId, recordName, search, timestamp } from "./conventions.ts";

export const WEBHOOK_EVENTS = ["alert.raised", "approval.requested", "drift_finding.opened"] as const;
export const WEBHOOK_FORMATS = ["standard", "slack"] as const;

const format = z
  .enum(WEBHOOK_FORMATS)
  .describe("standard: signed JSON as in Standard Webhooks; slack: text, as Slack, Mattermost and Google Chat take it");
const events = z
  .array(z.enum(WEBHOOK_EVENTS))
  .min(1)
  .refine((names) => new Set(names).size === names.length, "names one twice");
const signingSecret = z
  .string()
  .regex(/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/, "must be whsec_ and 24 to 64 bytes in base64")
  .nullable()
  .describe("write-only; signs messages of the format standard; null: they are not signed");

const written = {
  events: events.optional().describe("default at creation: all"),
  signing_secret: signingSecret.optional(),
  enabled: z.boolean().optional().describe("default at creation: true"),
};
const url = z
  .url({ protocol: /^https?$/, error: "must be an http or https address" })
  .max(2000)
  .refine((text) => !URL.canParse(text) || /^[^@#]*$/.test(text), "must carry no user, password or fragment")
  .describe("write-only, since it often is a credential itself; may have a query");

export const webhookCreate = z.strictObject({ name: recordName, url, format: format.optional(), ...written }).meta({ id: "WebhookCreate" });
export const webhookUpdate = z
  .strictObject({ name: recordName.optional(), url: url.optional(), format: format.optional(), ...written })
  .meta({ id: "WebhookUpdate" });

export const webhook = z
  .strictObject({
    id: recordId,
    tenant_id: z.string(),
    name: z.string(),
    format,
    has_url: z.literal(true),
    url_origin: z.string().describe("scheme, host and port of the address"),
    has_signing_secret: z.boolean(),
    events: z.array(z.enum(WEBHOOK_EVENTS)),
    enabled: z.boolean(),
    last_delivered_at: timestamp.nullable(),
    last_failed_at: timestamp.nullable(),
    last_error: z.string().nullable().describe("why the last failed delivery failed"),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "Webhook" });

export const webhookQuery = z.strictObject({ ...pageQuery.shape, search });

export const webhookTest = z.strictObject({ queued: z.literal(true) }).meta({ id: "WebhookTest" });

export type Webhook = z.output<typeof webhook>;
export type WebhookCreate = z.output<typeof webhookCreate>;
export type WebhookUpdate = z.output<typeof webhookUpdate>;
export type WebhookQuery = z.output<typeof webhookQuery>;
