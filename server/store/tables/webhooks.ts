import type { Json, NullableStamp, Stamp, WithDefault } from "./columns.ts";

export interface WebhookTable {
  id: string;
  tenant_id: string;
  name: string;
  format: string;
  endpoint_sealed: string;
  has_signing_secret: boolean;
  url_origin: string;
  events: string[];
  enabled: WithDefault<boolean>;
  last_delivered_at: NullableStamp;
  last_failed_at: NullableStamp;
  last_error: string | null;
  created_at: Stamp;
  updated_at: Stamp;
}

export interface WebhookDeliveryTable {
  id: WithDefault<string>;
  webhook_id: string;
  tenant_id: string;
  event: string;
  data: Json<Readonly<Record<string, unknown>>>;
  created_at: Stamp;
  due_at: Stamp;
  attempts: WithDefault<number>;
}
