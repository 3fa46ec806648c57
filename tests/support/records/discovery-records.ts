import type { Database } from "../../../server/store/database.ts";

/** Stores an asset as if a collector had reported it; resolves to its ID. */
async function foundAsset(db: Database, tenantId: string, name: string): Promise<string> {
  const id = crypto.randomUUID();
  const now = new Date();
  await db
    .insertInto("discovered_assets")
    .values({
      id,
      tenant_id: tenantId,
      identity: id,
      source: "scout_events",
      asset_type: "local_mcp_server",
      device_id: `device of ${name}`,
      name,
      version: null,
      location_hash: null,
      config_digest: null,
      governance_status: "ungoverned",
      governance_reason: "found",
      dismissed_reason: null,
      dismissed_digest: null,
      first_seen: now,
      last_seen: now,
    })
    .execute();
  return id;
}

/** One record of the tenant "acme" for each path of discovery, keyed by path. */
export async function discoveryRecords(
  db: Database,
  send: (method: string, path: string, body?: unknown) => Promise<{ readonly body: any }>,
): Promise<Record<string, string>> {
  const made = async (path: string, body: object) => [path, (await send("POST", path, body)).body.id] as const;
  return Object.fromEntries([
    await made("/v1/admin/assets", { name: "asset-of-acme", asset_type: "other" }),
    await made("/v1/admin/discovery/collector-keys", {
      collector_id: "collector-of-acme",
      public_key: Buffer.alloc(32, 3).toString("base64"),
      trust_tier: "low",
    }),
    ["/v1/admin/discovery/assets", await foundAsset(db, "acme", "found-by-acme")],
  ]);
}
