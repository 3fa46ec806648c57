import type { Database, Trx } from "../../store/database.ts";
import { lockJudging } from "../../store/discovery/asset-judgements.ts";
import { readGatewayOrigins, writeGatewayOrigins } from "../../store/assurance/governed-endpoints.ts";
import type { Write } from "../writes/write.ts";
import { judgeAgain } from "./reconcile.ts";

export async function getDiscoverySettings(db: Database | Trx, tenantId: string): Promise<{ gateway_origins: string[] }> {
  return { gateway_origins: await readGatewayOrigins(db, tenantId) };
}

export async function setDiscoverySettings(write: Write, tenantId: string, origins: readonly string[], ownOrigins: readonly string[]) {
  const before = await getDiscoverySettings(write.trx, tenantId);
  const after = { gateway_origins: [...new Set(origins)] };
  write.stay(before, after, before);
  await lockJudging(write.trx, tenantId, "all");
  await writeGatewayOrigins(write.trx, tenantId, after.gateway_origins, write.now);
  await judgeAgain(write.trx, tenantId, "all", ownOrigins);
  write.log({ tenant_id: tenantId, action: "update", resource: "discovery-settings", resource_id: null, before, after });
  return after;
}
