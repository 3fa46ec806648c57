import type { ArgumentPolicyCreate, ArgumentPolicyQuery, ArgumentPolicyRecord, ArgumentPolicyUpdate } from "@gatehouse/contracts/argument-policies";
import { type FieldError, refuse, Refused } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import { argumentPolicyIdByName, argumentPolicyStore, type ArgumentPolicyInsert, type ArgumentPolicyPatch, type ArgumentPolicyRow } from "../../store/argument-policies.ts";
import { notFound, type Records, records } from "../writes/records.ts";
import type { Write } from "../writes/write.ts";
import { checkGroups } from "./bound-groups.ts";

const NOUN = "argument policy";

type Judged = Pick<ArgumentPolicyRecord, "target" | "argument_key" | "analyzer" | "severity" | "rules" | "dialect" | "read_functions" | "schema"> & { readonly id: string; readonly name: string };

interface ArgumentPolicies extends Records<ArgumentPolicyRecord, ArgumentPolicyCreate, ArgumentPolicyUpdate, ArgumentPolicyQuery> {
  /** Throws `already_bound` when every one of the groups is. */
  bind(write: Write, tenantId: string, id: string, groupIds: readonly string[]): Promise<ArgumentPolicyRecord>;
  /** Throws `not_bound` when none of the groups is. */
  unbind(write: Write, tenantId: string, id: string, groupIds: readonly string[]): Promise<ArgumentPolicyRecord>;
}

export function readArgumentPolicy(row: ArgumentPolicyRow): ArgumentPolicyRecord {
  const { created_at: created, updated_at: updated, ...same } = row;
  return { ...same, created_at: created.toISOString(), updated_at: updated.toISOString() } as ArgumentPolicyRecord;
}

/** `check` says what of a policy keeps it from judging, each with its field. */
export function argumentPolicies(check: (policy: Judged) => readonly FieldError[]): ArgumentPolicies {
  const refuseUncompilable = (policy: Judged) => {
    const fields = check(policy);
    if (fields.length > 0) throw new Refused(refuse("invalid_body", fields.map(({ field, message }) => `${field} ${message}`).join("; "), { fields }));
  };

  const policies = records<ArgumentPolicyRow, ArgumentPolicyInsert, ArgumentPolicyPatch, ArgumentPolicyRecord, ArgumentPolicyCreate, ArgumentPolicyUpdate, ArgumentPolicyQuery, string>({
    resource: "argument-policies",
    noun: NOUN,
    store: argumentPolicyStore,
    read: readArgumentPolicy,
    tenantOf: (row) => row.tenant_id,
    twin: (write, tenantId, candidate) => argumentPolicyIdByName(write.trx, tenantId, candidate.name),
    async toInsert(write, tenantId, body) {
      await checkGroups(write, tenantId, body.group_ids, null);
      const policy = {
        id: uuid(),
        name: body.name,
        target: body.target,
        argument_key: body.argument_key ?? null,
        analyzer: body.analyzer,
        severity: body.severity ?? ("deny" as const),
        rules: body.rules,
        dialect: body.dialect ?? null,
        read_functions: body.read_functions ?? null,
        schema: body.schema ?? null,
      };
      refuseUncompilable(policy);
      return {
        ...policy,
        tenant_id: tenantId,
        description: body.description ?? null,
        enabled: body.enabled ?? true,
        surface: body.surface ?? "llm_output_tool_calls",
        group_ids: body.group_ids === undefined ? [] : body.group_ids,
        rules: JSON.stringify(policy.rules),
        read_functions: jsonOrNull(policy.read_functions),
        schema: jsonOrNull(policy.schema),
        created_at: write.now,
        updated_at: write.now,
      };
    },
    async toPatch(write, tenantId, row, body) {
      await checkGroups(write, tenantId, body.group_ids, row.group_ids);
      refuseUncompilable({ ...readArgumentPolicy(row), ...(body as Partial<Judged>) });
      const { rules, read_functions: functions, schema, ...rest } = body;
      return {
        ...rest,
        ...(rules === undefined ? {} : { rules: JSON.stringify(rules) }),
        ...(functions === undefined ? {} : { read_functions: jsonOrNull(functions) }),
        ...(schema === undefined ? {} : { schema: jsonOrNull(schema) }),
        updated_at: write.now,
      } as ArgumentPolicyPatch;
    },
    dependents: async () => [],
    notify: (write, row) => write.notify(row.tenant_id, "policy"),
  });

  const bound = async (write: Write, tenantId: string, id: string) => {
    const row = await argumentPolicyStore.find(write.trx, tenantId, id, "lock");
    if (row === undefined) throw notFound(NOUN);
    return row.group_ids;
  };

  return {
    ...policies,
    async bind(write, tenantId, id, groupIds) {
      const before = await bound(write, tenantId, id);
      const fresh = before === null ? [] : groupIds.filter((group) => !before.includes(group));
      await checkGroups(write, tenantId, groupIds, before);
      if (before === null || fresh.length === 0) throw new Refused(refuse("already_bound"));
      return policies.update(write, tenantId, id, { group_ids: [...before, ...new Set(fresh)] });
    },
    async unbind(write, tenantId, id, groupIds) {
      const before = await bound(write, tenantId, id);
      const left = before?.filter((group) => !groupIds.includes(group)) ?? null;
      if (before === null || left === null || left.length === before.length) throw new Refused(refuse("not_bound"));
      return policies.update(write, tenantId, id, { group_ids: left });
    },
  };
}

function jsonOrNull(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}
