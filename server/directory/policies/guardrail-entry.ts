import type { GuardrailBuiltin, GuardrailEngineWritten, GuardrailSurface } from "@gatehouse/contracts/guardrails";
import type { SecretBox } from "../../kernel/secrets.ts";
import { engineKeyContext } from "../../kernel/seal-contexts.ts";
import type { GuardrailConfigRow } from "../../store/policies/guardrail-configs.ts";

/** A stored engine: as written, with its key encrypted. */
export type StoredEngine = Omit<GuardrailEngineWritten, "api_key"> & { readonly api_key_sealed: string | null };

/** A guardrail configuration as a snapshot holds it. */
export interface GuardrailEntry {
  readonly id: string;
  readonly name: string;
  /** Changes whenever the record does. */
  readonly version: string;
  /** Null applies to every group. */
  readonly groupIds: readonly string[] | null;
  readonly surfaces: ReadonlySet<GuardrailSurface>;
  readonly builtin: GuardrailBuiltin;
  readonly engines: readonly GuardrailEngineEntry[];
}

export type GuardrailEngineEntry = Omit<StoredEngine, "api_key_sealed"> & {
  /** Decrypted; held only in memory. */
  readonly apiKey: string | null;
};

export function guardrailEntries(rows: readonly GuardrailConfigRow[], open: SecretBox["openOrNull"]): GuardrailEntry[] {
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    version: `${row.id} ${row.updated_at.getTime()}`,
    groupIds: row.group_ids,
    surfaces: new Set(Object.entries(row.surfaces).flatMap(([name, on]) => (on ? [name as GuardrailSurface] : []))),
    builtin: row.builtin as GuardrailBuiltin,
    engines: (row.providers as readonly StoredEngine[]).flatMap(({ api_key_sealed: sealed, ...engine }) =>
      engine.enabled === false ? [] : [{ ...engine, apiKey: open(sealed, engineKeyContext(row.id)) }],
    ),
  }));
}
