import type { RoutingGroup, RoutingGroupCreate, RoutingGroupQuery, RoutingGroupUpdate } from "@gatehouse/contracts/routing-groups";
import { refuse, Refused } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import { membersOfGroup } from "../../store/models/models.ts";
import {
  lockModelNames,
  routingGroupStore,
  type RoutingGroupInsert,
  type RoutingGroupPatch,
  type RoutingGroupRow,
} from "../../store/models/routing-groups.ts";
import type { Records } from "../writes/record-spec.ts";
import { invalidField, namedDependents, namesOf, records } from "../writes/records.ts";
import { refuseModelName } from "./model-names.ts";

type GroupRecords = Records<RoutingGroup, RoutingGroupCreate, RoutingGroupUpdate, RoutingGroupQuery>;

function read(row: RoutingGroupRow): RoutingGroup {
  const { created_at: createdAt, updated_at: updatedAt, mode, modes, routing_strategy: strategy, members, ...same } = row;
  return {
    ...same,
    mode: mode as RoutingGroup["mode"],
    modes: modes as RoutingGroup["modes"],
    members: members as RoutingGroup["members"],
    routing_strategy: strategy as RoutingGroup["routing_strategy"],
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}

/** A group's ID is unique only within its tenant, so the records of each tenant have their own store. */
function ofTenant(tenantId: string): GroupRecords {
  return records<
    RoutingGroupRow,
    RoutingGroupInsert,
    RoutingGroupPatch,
    RoutingGroup,
    RoutingGroupCreate,
    RoutingGroupUpdate,
    RoutingGroupQuery,
    string
  >({
    resource: "routing-groups",
    noun: "routing group",
    store: routingGroupStore(tenantId),
    read,
    tenantOf: () => tenantId,
    begin: (write) => lockModelNames(write.trx, tenantId),
    async takenBy(write, _scope, candidate) {
      await refuseModelName(write, tenantId, candidate);
      return undefined;
    },
    async toInsert(write, scope, body) {
      const { id, name = id, ...rest } = body;
      if ((await routingGroupStore(tenantId).find(write.trx, scope, id)) !== undefined) {
        throw new Refused(refuse("conflict", "There is already a routing group of this id.", { extra: { existing_id: id } }));
      }
      return {
        ...rest,
        id,
        name,
        tenant_id: tenantId,
        model_id: uuid(),
        created_at: write.now,
        updated_at: write.now,
      } as RoutingGroupInsert;
    },
    async toPatch(write, _scope, row, body) {
      if (body.mode !== undefined && body.mode !== row.mode) {
        const strangers = (await membersOfGroup(write.trx, tenantId, row.id)).filter(
          (member) => !member.modes.includes(body.mode as string),
        );
        if (strangers.length > 0)
          throw invalidField("mode", `is not served by the members ${namesOf(strangers.map((member) => member.name))}`);
      }
      return { ...body, updated_at: write.now } as RoutingGroupPatch;
    },
    dependents: async (_write, row) =>
      namedDependents(
        "members",
        row.members.map((member) => member.name),
      ),
    notify: (write) => write.notify(tenantId, "policy"),
  });
}

/** A group with members cannot be removed, because calls to its name would fail. */
export const routingGroups: GroupRecords = {
  list: (directory, tenantId, filters, page) => ofTenant(tenantId).list(directory, tenantId, filters, page),
  get: (directory, tenantId, id) => ofTenant(tenantId).get(directory, tenantId, id),
  create: (write, tenantId, body) => ofTenant(tenantId).create(write, tenantId, body),
  update: (write, tenantId, id, body) => ofTenant(tenantId).update(write, tenantId, id, body),
  remove: (write, tenantId, id) => ofTenant(tenantId).remove(write, tenantId, id),
};
