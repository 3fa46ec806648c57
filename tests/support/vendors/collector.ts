import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { AdminClient } from "../worlds/admin.ts";

/** An independent collector: it signs whatever it is told to send, valid or not, with its own implementation of canonical JSON. */
export interface Collector {
  readonly keyId: string;
  readonly collectorId: string;
  /** A request with these events; `more` overrides its members. */
  message(events: readonly object[], more?: Record<string, unknown>): Record<string, unknown>;
  signed(message: unknown, key?: KeyObject): string;
  send(message: unknown, signature?: string): Promise<{ status: number; body: any; headers: Headers }>;
  report(...events: object[]): Promise<{ status: number; body: any; headers: Headers }>;
}

/** RFC 8785 JSON, limited to what collectors send: strings, integers, booleans, arrays and objects. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const names = Object.keys(value)
    .filter((name) => (value as Record<string, unknown>)[name] !== undefined)
    .sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical((value as Record<string, unknown>)[name])}`).join(",")}}`;
}

export async function registerCollector(
  admin: AdminClient,
  runtimeUrl: string,
  { tier = "standard", collectorId = `collector-${crypto.randomUUID()}` }: { tier?: string; collectorId?: string } = {},
): Promise<Collector> {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const { id: keyId } = await admin.post("/v1/admin/discovery/collector-keys", {
    collector_id: collectorId,
    public_key: publicKey.export({ type: "spki", format: "pem" }).toString(),
    trust_tier: tier,
  });
  const collector: Collector = {
    keyId,
    collectorId,
    message: (events, more = {}) => ({
      collector_id: collectorId,
      key_id: keyId,
      sent_at: new Date().toISOString(),
      nonce: crypto.randomUUID(),
      events,
      ...more,
    }),
    signed: (message, key = privateKey) => sign(null, Buffer.from(canonical(message)), key).toString("base64"),
    async send(message, signature = collector.signed(message)) {
      const answer = await fetch(`${runtimeUrl}/v1/discovery/events`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-gw-collector-signature": signature },
        body: typeof message === "string" ? message : JSON.stringify(message),
      });
      return { status: answer.status, body: await answer.json(), headers: answer.headers };
    },
    report: (...events) => collector.send(collector.message(events)),
  };
  return collector;
}

/** A tool server found in a client on a device, as a collector reports it. */
export const seenServer = (device: string, name: string, more: Record<string, unknown> = {}) => ({
  event_id: crypto.randomUUID(),
  kind: "asset_seen",
  asset_type: "local_mcp_server",
  device_id: device,
  name,
  location_hash: "a".repeat(64),
  config_digest: "b".repeat(64),
  endpoints: [],
  observed_at: new Date().toISOString(),
  attributes: { client: "cursor", transport: "stdio" },
  ...more,
});

export const seenClient = (device: string, client: string, more: Record<string, unknown> = {}) =>
  seenServer(device, client, { asset_type: "local_ai_client", attributes: { client }, ...more });
