import { refuse, Refused } from "../../kernel/errors.ts";
import { modelIdByName } from "../../store/models/models.ts";
import { routingGroupsCalled } from "../../store/models/routing-groups.ts";
import type { Write } from "../writes/write.ts";

/** Keeps the names that callers put in `model` unambiguous: a model's name, or a routing group's ID or name. */

export async function refuseRoutingGroupName(write: Write, tenantId: string, modelName: string): Promise<void> {
  const [group] = await routingGroupsCalled(write.trx, tenantId, [modelName]);
  if (group !== undefined) throw taken("routing group", group);
}

/** Throws if a model already has the ID or name that a routing group is to have. */
export async function refuseModelName(write: Write, tenantId: string, group: { id: string; name: string }): Promise<void> {
  for (const name of new Set([group.id, group.name])) {
    const model = await modelIdByName(write.trx, tenantId, name);
    if (model !== undefined) throw taken("model", model);
  }
  const sameName = (await routingGroupsCalled(write.trx, tenantId, [group.id, group.name])).find((id) => id !== group.id);
  if (sameName !== undefined) throw taken("routing group", sameName);
}

function taken(noun: string, id: string): Refused {
  return new Refused(refuse("conflict", `There is already a ${noun} of this name.`, { extra: { existing_id: id } }));
}
