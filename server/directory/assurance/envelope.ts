import { isDeepStrictEqual } from "node:util";
import type { OperatingEnvelope, EnvelopePut } from "@gatehouse/contracts/ai-systems";
import { aiSystemStore } from "../../store/assurance/ai-systems.ts";
import type { Database } from "../../store/database.ts";
import { readPolicyTree, replacePolicy } from "../limits/group-policies.ts";
import { documentOf, fieldsOf } from "../limits/merge.ts";
import { sealRecord, systemAlone } from "../writes/sealed-record.ts";
import type { Directory, Write } from "../writes/write.ts";
import { AI_SYSTEMS, autonomyInForce, foundSystem, lockedSystem, refuseRetired } from "./ai-systems.ts";

export async function readEnvelope(directory: Directory, tenantId: string, id: string): Promise<OperatingEnvelope> {
  const { db } = directory;
  const row = await foundSystem(db, tenantId, id);
  const tree = await readPolicyTree(directory, tenantId, { groupId: id, kind: "run_ceilings" });
  const { level } = await autonomyInForce(db, tenantId, id);
  return {
    ai_system_id: id,
    ...(documentOf(tree.ownFields(id, "run_ceilings")) as object),
    autonomy_level: row.autonomy_level as OperatingEnvelope["effective"]["autonomy_level"],
    restrictions: row.restrictions,
    effective: { ...(documentOf(tree.effective(id, "run_ceilings")) as object), autonomy_level: level },
  } as OperatingEnvelope;
}

/**
 * Replaces the whole declaration: the ceilings of the group's runs, its autonomy, and what `restricted` allows. Sealed in
 * the admin log.
 */
export async function putEnvelope(write: Write, tenantId: string, id: string, body: EnvelopePut): Promise<OperatingEnvelope> {
  const row = await lockedSystem(write, tenantId, id);
  refuseRetired(row);
  const directory = { ...write.directory, db: write.trx as Database };
  const { effective: _before, ...before } = await readEnvelope(directory, tenantId, id);
  const { autonomy_level = "autonomous", restrictions = null, ...ceilings } = body;
  const stored = restrictions === null ? null : JSON.stringify(restrictions);
  await aiSystemStore.update(write.trx, id, { autonomy_level, restrictions: stored, updated_at: write.now });
  const of = { groupId: id, kind: "run_ceilings" } as const;
  const own = (await readPolicyTree(directory, tenantId, of)).ownFields(id, "run_ceilings");
  if (!isDeepStrictEqual(own, fieldsOf(ceilings))) await replacePolicy(write, tenantId, of, ceilings);
  const after = await readEnvelope(directory, tenantId, id);
  const { effective: _after, ...declared } = after;
  write.stay(before, declared, after);
  sealRecord(write, {
    tenantId,
    system: systemAlone(id),
    action: "set_envelope",
    resource: AI_SYSTEMS,
    resource_id: id,
    before,
    context: { record_type: "ai.gw.envelope", ...declared },
  });
  write.notify(tenantId, "policy");
  return after;
}
