import type {
  ArgumentPolicy,
  ArgumentPolicyCreate,
  ArgumentPolicyQuery,
  ArgumentPolicyUpdate,
} from "@gatehouse/contracts/argument-policies";
import { type FieldError, invalidFields, refuse, Refused } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import {
  argumentPolicyIdByName,
  type ArgumentPolicyFilters,
  type ArgumentPolicyInsert,
  type ArgumentPolicyPatch,
  type ArgumentPolicyRow,
  argumentPolicyStore,
  setArgumentPolicyGroups,
} from "../../store/policies/argument-policies.ts";
import type { Records } from "../writes/record-spec.ts";
import { notFound, records } from "../writes/records.ts";
import type { Write } from "../writes/write.ts";
import { checkGroups } from "./bound-groups.ts";

const RESOURCE = "argument-policies";
const NOUN = "argument policy";

/** Validates a policy: the problems by field; empty if there are none. */
export type CheckArgumentPolicy = (
  policy: Omit<ArgumentPolicyInsert, "rules" | "schema" | "created_at" | "updated_at"> & Pick<ArgumentPolicyRow, "rules" | "schema">,
) => readonly FieldError[];

export function readArgumentPolicy(row: ArgumentPolicyRow): ArgumentPolicy {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    name: row.name,
    description: row.description,
    surface: row.surface as ArgumentPolicy["surface"],
    target: row.target,
    argument_key: row.argument_key,
    analyzer: row.analyzer as ArgumentPolicy["analyzer"],
    severity: row.severity as ArgumentPolicy["severity"],
    enabled: row.enabled,
    rules: row.rules,
    dialect: row.dialect,
    read_functions: row.read_functions,
    schema: row.schema,
    group_ids: row.all_groups ? null : row.group_ids,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** Policies on the arguments of tool calls. `check` compiles a policy to validate it. */
export function argumentPolicies(
  check: CheckArgumentPolicy,
): Records<ArgumentPolicy, ArgumentPolicyCreate, ArgumentPolicyUpdate, ArgumentPolicyQuery> {
  const refuseBroken = (policy: Parameters<CheckArgumentPolicy>[0]) => {
    const fields = check(policy);
    if (fields.length > 0) throw invalidFields("invalid_body", fields);
  };
  const storedRules = (rules: ArgumentPolicyCreate["rules"]) =>
    rules.map(({ values, ...rule }) => ({ ...rule, ...(values === undefined ? {} : { values }) }));
  return records<
    ArgumentPolicyRow,
    ArgumentPolicyInsert,
    ArgumentPolicyPatch,
    ArgumentPolicy,
    ArgumentPolicyCreate,
    ArgumentPolicyUpdate,
    ArgumentPolicyQuery & ArgumentPolicyFilters,
    string
  >({
    resource: RESOURCE,
    noun: NOUN,
    store: argumentPolicyStore,
    read: readArgumentPolicy,
    tenantOf: (row) => row.tenant_id,
    takenBy: (write, tenantId, candidate) => argumentPolicyIdByName(write.trx, tenantId, candidate.name),
    async toInsert(write, tenantId, body) {
      const policy = {
        id: uuid(),
        tenant_id: tenantId,
        name: body.name,
        description: body.description ?? null,
        surface: body.surface ?? "llm_output_tool_calls",
        target: body.target,
        argument_key: body.argument_key ?? null,
        analyzer: body.analyzer,
        severity: body.severity ?? "deny",
        enabled: body.enabled ?? true,
        dialect: body.dialect ?? null,
        read_functions: body.read_functions ?? null,
        rules: storedRules(body.rules),
        schema: body.schema ?? null,
      };
      refuseBroken(policy);
      return {
        ...policy,
        rules: JSON.stringify(policy.rules),
        schema: policy.schema === null ? null : JSON.stringify(policy.schema),
        created_at: write.now,
        updated_at: write.now,
      };
    },
    async created(write, _tenantId, row, body) {
      await bindOnly(write, row, body.group_ids ?? null);
    },
    async toPatch(write, _tenantId, row, body) {
      const { group_ids: groupIds, rules, schema, ...rest } = body;
      const changed = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) as Partial<ArgumentPolicyRow>;
      // Settings of the previous analyzer have no meaning for another one; they are dropped unless given anew.
      const fresh = body.analyzer !== undefined && body.analyzer !== row.analyzer;
      const own = fresh ? { dialect: body.dialect ?? null, read_functions: body.read_functions ?? null } : {};
      const policy = {
        ...row,
        ...changed,
        ...own,
        rules: rules === undefined ? row.rules : storedRules(rules),
        schema: schema === undefined ? (fresh ? null : row.schema) : schema,
      };
      refuseBroken(policy);
      if (groupIds !== undefined) await bindOnly(write, row, groupIds);
      return {
        ...changed,
        ...own,
        rules: JSON.stringify(policy.rules),
        schema: policy.schema === null ? null : JSON.stringify(policy.schema),
        updated_at: write.now,
      } as ArgumentPolicyPatch;
    },
    dependents: async () => [],
    notify: (write, row) => write.notify(row.tenant_id, "policy"),
  });
}

/** Null binds to every group. */
async function bindOnly(write: Write, row: ArgumentPolicyRow, groupIds: readonly string[] | null): Promise<void> {
  await checkGroups(write, row.tenant_id, groupIds, row.group_ids);
  await setArgumentPolicyGroups(write.trx, row.tenant_id, row.id, groupIds === null ? null : [...new Set(groupIds)]);
}

async function locked(write: Write, tenantId: string, id: string): Promise<ArgumentPolicyRow> {
  const row = await argumentPolicyStore.find(write.trx, tenantId, id, "lock");
  if (row === undefined) throw notFound(NOUN);
  return row;
}

async function rebind(write: Write, row: ArgumentPolicyRow, action: "bind" | "unbind", after: readonly string[]): Promise<void> {
  await setArgumentPolicyGroups(write.trx, row.tenant_id, row.id, after);
  write.log({
    tenant_id: row.tenant_id,
    action,
    resource: RESOURCE,
    resource_id: row.id,
    before: { group_ids: row.all_groups ? null : row.group_ids },
    after: { group_ids: after },
  });
  write.notify(row.tenant_id, "policy");
}

/**
 * Adds groups. A policy that applied to every group then applies only to the bound ones. Refuses with `already_bound` if
 * all are bound already.
 */
export async function bindArgumentPolicy(
  write: Write,
  tenantId: string,
  id: string,
  groupIds: readonly string[],
): Promise<{ bound: string[]; already_bound: string[] }> {
  const row = await locked(write, tenantId, id);
  await checkGroups(write, tenantId, groupIds, row.group_ids);
  const wanted = [...new Set(groupIds)];
  const already = wanted.filter((groupId) => row.group_ids.includes(groupId));
  const bound = wanted.filter((groupId) => !row.group_ids.includes(groupId));
  if (bound.length === 0)
    throw new Refused(
      refuse("already_bound", "All of these groups are already bound to the policy.", { extra: { already_bound: already } }),
    );
  await rebind(write, row, "bind", [...row.group_ids, ...bound]);
  return { bound, already_bound: already };
}

/** Removes groups; a policy without any applies to nobody. Refuses with `not_bound` if none of them is bound. */
export async function unbindArgumentPolicy(
  write: Write,
  tenantId: string,
  id: string,
  groupIds: readonly string[],
): Promise<{ unbound: string[]; not_bound: string[] }> {
  const row = await locked(write, tenantId, id);
  const wanted = [...new Set(groupIds)];
  const unbound = wanted.filter((groupId) => row.group_ids.includes(groupId));
  if (unbound.length === 0) throw new Refused(refuse("not_bound", "None of these groups is bound to the policy."));
  await rebind(
    write,
    row,
    "unbind",
    row.group_ids.filter((groupId) => !unbound.includes(groupId)),
  );
  return { unbound, not_bound: wanted.filter((groupId) => !unbound.includes(groupId)) };
}
