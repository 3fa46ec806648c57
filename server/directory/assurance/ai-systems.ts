import type {
  AiSystem,
  AiSystemCreate,
  AiSystemQuery,
  AiSystemUpdate,
  AutonomyLevel,
  LifecycleState,
} from "@gatehouse/contracts/ai-systems";
import { contractsOf } from "../../store/assurance/ai-contracts.ts";
import { beginObserving } from "../../store/assurance/ai-observations.ts";
import {
  type AiSystemInsert,
  type AiSystemPatch,
  type AiSystemRow,
  aiSystemStore,
  readAutonomy,
} from "../../store/assurance/ai-systems.ts";
import type { Database, Trx } from "../../store/database.ts";
import { ancestorsOf, resourceGroupStore } from "../../store/groups/resource-groups.ts";
import { refuse, Refused } from "../../kernel/errors.ts";
import { counted, invalidField, notFound, records } from "../writes/records.ts";
import type { Write } from "../writes/write.ts";
import { type Autonomy, autonomyOf, levelOfState, stricter } from "./autonomy.ts";

export const AI_SYSTEMS = "ai-systems";

export function readAiSystem(row: AiSystemRow): AiSystem {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    group_id: row.id,
    name: row.name,
    display_name: row.display_name,
    owner: row.owner,
    purpose: row.purpose,
    role: row.role as AiSystem["role"],
    risk_class: row.risk_class as AiSystem["risk_class"],
    data_classes: row.data_classes,
    affected_people: row.affected_people,
    oversight_person: row.oversight_person,
    interacts_with_people: row.interacts_with_people,
    lifecycle_state: row.lifecycle_state as LifecycleState,
    lifecycle_since: row.lifecycle_since.toISOString(),
    autonomy_level: stricter(row.autonomy_level as AutonomyLevel, levelOfState(row.lifecycle_state as LifecycleState)),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** The autonomy that the system and its ancestors leave it. */
export async function autonomyInForce(db: Database | Trx, tenantId: string, id: string): Promise<Autonomy> {
  const systems = new Map((await readAutonomy(db, tenantId)).map((row) => [row.id, row]));
  const above = (await ancestorsOf(db, tenantId, id)).map((group) => group.id);
  const found = autonomyOf([id, ...above], systems);
  if (found === null) throw notFound("AI System");
  return found;
}

export const aiSystems = records<
  AiSystemRow,
  AiSystemInsert & { id: string },
  AiSystemPatch,
  AiSystem,
  AiSystemCreate,
  AiSystemUpdate,
  AiSystemQuery,
  string
>({
  resource: AI_SYSTEMS,
  noun: "AI System",
  store: aiSystemStore,
  read: readAiSystem,
  tenantOf: (row) => row.tenant_id,
  unique: "of this resource group",
  takenBy: async (write, tenantId, candidate) => (await aiSystemStore.find(write.trx, tenantId, candidate.id))?.id,
  async toInsert(write, tenantId, { group_id: id, ...fields }) {
    if ((await resourceGroupStore.find(write.trx, tenantId, id)) === undefined)
      throw invalidField("group_id", "names no resource group of this tenant");
    if ((await aiSystemStore.find(write.trx, tenantId, id)) !== undefined)
      throw new Refused(refuse("conflict", "There is already an AI System of this resource group.", { extra: { existing_id: id } }));
    const moment = { lifecycle_since: write.now, created_at: write.now, updated_at: write.now };
    return { ...fields, id, tenant_id: tenantId, ...moment };
  },
  created: ({ trx }) => beginObserving(trx),
  async toPatch(write, _tenantId, row, body) {
    refuseRetired(row);
    return { ...body, updated_at: write.now };
  },
  dependents: async (write, row) => counted(await contractsOf(write.trx, row.id), "contract version"),
  notify: (write, row) => write.notify(row.tenant_id, "policy"),
});

/** Retired systems are read-only. */
export function refuseRetired({ lifecycle_state: state }: Pick<AiSystemRow, "lifecycle_state">): void {
  if (state === "retired") throw new Refused(refuse("ai_system_retired"));
}

/** Row-locked until the transaction ends. Throws a `not_found` refusal. */
export async function lockedSystem(write: Write, tenantId: string, id: string): Promise<AiSystemRow> {
  const row = await aiSystemStore.find(write.trx, tenantId, id, "lock");
  if (row === undefined) throw notFound("AI System");
  return row;
}

export async function foundSystem(db: Database | Trx, tenantId: string, id: string): Promise<AiSystemRow> {
  const row = await aiSystemStore.find(db, tenantId, id);
  if (row === undefined) throw notFound("AI System");
  return row;
}
