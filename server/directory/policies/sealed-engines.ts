import { isDeepStrictEqual } from "node:util";
import type { GuardrailEngineWritten } from "@gatehouse/contracts/guardrails";
import { invalidFields } from "../../kernel/errors.ts";
import { engineKeyContext } from "../../kernel/seal-contexts.ts";
import type { Write } from "../writes/write.ts";
import type { StoredEngine } from "./guardrail-entry.ts";

/**
 * Matches each written engine with a stored one: one that is identical except for its key, or else one with the same
 * provider and address. A stored engine is matched twice only if there are not enough.
 */
function predecessors(engines: readonly GuardrailEngineWritten[], before: readonly StoredEngine[]): (StoredEngine | undefined)[] {
  const left = [...before];
  const take = (is: (known: StoredEngine) => boolean): StoredEngine | undefined => {
    const at = left.findIndex(is);
    return at < 0 ? undefined : left.splice(at, 1)[0];
  };
  const unchanged = engines.map(({ api_key: _written, has_api_key: _read, ...engine }) =>
    take(({ api_key_sealed: _stored, ...known }) => isDeepStrictEqual(known, engine)),
  );
  return engines.map((engine, index) => {
    const isAtSameAddress = (known: StoredEngine) =>
      known.provider === engine.provider && (known.endpoint ?? null) === (engine.endpoint ?? null);
    return unchanged[index] ?? take(isAtSameAddress) ?? before.find(isAtSameAddress);
  });
}

/** An engine sent without a key keeps its stored key, but only for the address that key was given for. */
export function sealEngines(write: Write, id: string, engines: readonly GuardrailEngineWritten[], before: readonly StoredEngine[]): string {
  const known = predecessors(engines, before);
  const { secrets } = write.directory;
  const stored = engines.map(({ api_key: apiKey, has_api_key: hasKey, ...engine }, index): StoredEngine => {
    const kept = known[index]?.api_key_sealed ?? null;
    if (apiKey === undefined && hasKey !== undefined && hasKey !== (kept !== null))
      throw invalidFields("read_only_field", [{ field: `providers.${index}.has_api_key`, message: "cannot be changed: api_key is" }]);
    const stays = apiKey === undefined || (apiKey !== null && secrets.openOrNull(kept, engineKeyContext(id)) === apiKey);
    return { ...engine, api_key_sealed: stays ? kept : apiKey === null ? null : secrets.seal(apiKey, engineKeyContext(id)) };
  });
  return JSON.stringify(stored);
}
