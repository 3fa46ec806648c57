import {
  GUARDRAIL_SURFACES,
  type GuardrailBuiltin,
  type GuardrailConfig,
  type GuardrailConfigCreate,
  type GuardrailConfigQuery,
  type GuardrailConfigUpdate,
  type GuardrailEngine,
  type GuardrailEngineWritten,
  type GuardrailSurface,
} from "@gatehouse/contracts/guardrails";
import type { FieldError } from "../../kernel/errors.ts";
import { invalidFields } from "../../kernel/errors.ts";
import { isUuid, uuid } from "../../kernel/ids.ts";
import {
  guardrailConfigIdByName,
  guardrailConfigStore,
  type GuardrailConfigInsert,
  type GuardrailConfigPatch,
  type GuardrailConfigRow,
} from "../../store/policies/guardrail-configs.ts";
import { lockedModel, modelIdByName } from "../../store/models/models.ts";
import type { Records } from "../writes/record-spec.ts";
import { invalidField, records } from "../writes/records.ts";
import type { Write } from "../writes/write.ts";
import { checkGroups } from "./bound-groups.ts";
import type { StoredEngine } from "./guardrail-entry.ts";
import { sealEngines } from "./sealed-engines.ts";

type Surfaces = Record<GuardrailSurface, boolean>;

/** Every surface by name, enabled or not. */
function surfacesOf(written: GuardrailConfigCreate["surfaces"]): Surfaces {
  return Object.fromEntries(GUARDRAIL_SURFACES.map((name) => [name, written === undefined ? true : written[name] === true])) as Surfaces;
}

export function readGuardrailConfig(row: GuardrailConfigRow): GuardrailConfig {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    name: row.name,
    description: row.description,
    enabled: row.enabled,
    group_ids: row.group_ids,
    surfaces: row.surfaces as Surfaces,
    builtin: row.builtin as GuardrailBuiltin,
    providers: storedEngines(row).map(({ api_key_sealed: sealed, ...engine }): GuardrailEngine => ({
      ...engine,
      has_api_key: sealed !== null,
    })),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

function distinct<Ids extends string[] | null | undefined>(ids: Ids): Ids {
  return (ids == null ? ids : [...new Set(ids)]) as Ids;
}

function storedEngines(row: { readonly providers: unknown }): readonly StoredEngine[] {
  return row.providers as readonly StoredEngine[];
}

/**
 * Without its guard model a guardrail could not judge, and would block every call. A model in `before` may have been
 * deleted since, and then must not block an unrelated change.
 */
async function checkGuardModels(
  write: Write,
  tenantId: string,
  engines: readonly GuardrailEngineWritten[],
  before: readonly StoredEngine[],
): Promise<void> {
  for (const [index, { provider, model: named }] of engines.entries()) {
    if (provider !== "guard_model" || named == null || before.some((known) => known.provider === provider && known.model === named))
      continue;
    const id = (await modelIdByName(write.trx, tenantId, named)) ?? (isUuid(named) ? named : undefined);
    // Locked against concurrent deletion or renaming, and checked against the model's current name.
    const model = id === undefined ? undefined : await lockedModel(write.trx, tenantId, id);
    if (model === undefined || (model.name !== named && model.id !== named))
      throw invalidField(`providers.${index}.model`, "is no model of this tenant");
    if (!model.modes.includes("chat") && !model.modes.includes("responses"))
      throw invalidField(`providers.${index}.model`, "is a model that holds no conversation");
  }
}

/** `check` returns the problems of built-in settings that cannot be compiled. */
export function guardrailConfigs(
  check: (builtin: GuardrailBuiltin) => readonly FieldError[],
): Records<GuardrailConfig, GuardrailConfigCreate, GuardrailConfigUpdate, GuardrailConfigQuery> {
  const refuseUncompilable = (builtin: GuardrailBuiltin | undefined) => {
    const fields = builtin === undefined ? [] : check(builtin);
    if (fields.length > 0) throw invalidFields("invalid_body", fields);
  };
  return records<
    GuardrailConfigRow,
    GuardrailConfigInsert,
    GuardrailConfigPatch,
    GuardrailConfig,
    GuardrailConfigCreate,
    GuardrailConfigUpdate,
    GuardrailConfigQuery,
    string
  >({
    resource: "guardrail-configs",
    noun: "guardrail configuration",
    store: guardrailConfigStore,
    read: readGuardrailConfig,
    tenantOf: (row) => row.tenant_id,
    takenBy: (write, tenantId, candidate) => guardrailConfigIdByName(write.trx, tenantId, candidate.name),
    async toInsert(write, tenantId, body) {
      await checkGroups(write, tenantId, body.group_ids, null);
      refuseUncompilable(body.builtin);
      await checkGuardModels(write, tenantId, body.providers ?? [], []);
      const id = uuid();
      return {
        id,
        tenant_id: tenantId,
        name: body.name,
        description: body.description ?? null,
        enabled: body.enabled ?? true,
        group_ids: distinct(body.group_ids) ?? null,
        surfaces: JSON.stringify(surfacesOf(body.surfaces)),
        builtin: JSON.stringify(body.builtin ?? {}),
        providers: sealEngines(write, id, body.providers ?? [], []),
        created_at: write.now,
        updated_at: write.now,
      };
    },
    async toPatch(write, tenantId, row, body) {
      await checkGroups(write, tenantId, body.group_ids, row.group_ids);
      refuseUncompilable(body.builtin);
      await checkGuardModels(write, tenantId, body.providers ?? [], storedEngines(row));
      const { surfaces, builtin, providers, group_ids: groupIds, ...rest } = body;
      return {
        ...rest,
        ...(groupIds === undefined ? {} : { group_ids: distinct(groupIds) }),
        ...(surfaces === undefined ? {} : { surfaces: JSON.stringify(surfacesOf(surfaces)) }),
        ...(builtin === undefined ? {} : { builtin: JSON.stringify(builtin) }),
        ...(providers === undefined ? {} : { providers: sealEngines(write, row.id, providers, storedEngines(row)) }),
        updated_at: write.now,
      } as GuardrailConfigPatch;
    },
    dependents: async () => [],
    notify: (write, row) => write.notify(row.tenant_id, "policy"),
  });
}
