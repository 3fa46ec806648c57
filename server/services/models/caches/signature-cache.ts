import type { Call } from "../../../road/call.ts";
import type { ModelEntry } from "../../../directory/snapshot.ts";
import { sha256Hex } from "../../../kernel/secrets.ts";
import type { Signed } from "../../../wire/conversation/signatures.ts";
import type { CacheParts } from "./cache-store.ts";
import { StoreBackedCache } from "./store-backed-cache.ts";

/** `providerKey` names the provider that signed; it is missing in what an older gateway kept. */
export interface SignedByProvider extends Signed {
  readonly providerKey?: string;
}

/**
 * Reasoning and call signatures that the caller's format has no place for, by the ids of the calls: tool loops work across
 * formats. Of sealed reasoning that the caller carries itself, who sealed it, by its hash.
 */
export class SignatureCache extends StoreBackedCache<SignedByProvider> {
  constructor(parts: CacheParts) {
    super({ name: "kept-signatures", most: 50_000, weigh: () => 1 }, parts);
  }
}

/** The signatures in an answer of the model, with the provider that made them. */
export function signedBy(
  { provider: { providerKey } }: ModelEntry,
  signed: ReadonlyMap<string, Signed | null>,
): Map<string, SignedByProvider | null> {
  return new Map([...signed].map(([callId, one]) => [callId, one === null ? null : { ...one, providerKey }]));
}

/**
 * The part of the signatures that the model's provider can read. Reasoning sealed by OpenAI opens for no other account, which would refuse
 * the whole request.
 */
export function readableBy({ provider }: ModelEntry, signed: SignedByProvider): Signed {
  if (signed.providerKey === undefined || signed.providerKey === provider.providerKey) return signed;
  return { ...signed, reasoning: signed.reasoning.filter(({ signature }) => signature?.family !== "openai") };
}

/** Records that the model's provider sealed these reasoning items. */
export function sealedBy({ provider: { providerKey } }: ModelEntry, seals: readonly string[]): Map<string, SignedByProvider> {
  return new Map(seals.map((seal) => [sealId(seal), { call: null, reasoning: [], providerKey }]));
}

/** Those of the seals that are known to be another provider's. */
export async function foreignSealsOf(
  call: Call,
  { provider }: ModelEntry,
  seals: readonly string[],
  signatures: SignatureCache,
): Promise<ReadonlySet<string>> {
  const ids = new Map(seals.map((seal) => [sealId(seal), seal]));
  const foreign = new Set<string>();
  for (const [id, { providerKey }] of await signatures.find(call, [...ids.keys()])) {
    const seal = ids.get(id);
    if (seal !== undefined && providerKey !== provider.providerKey) foreign.add(seal);
  }
  return foreign;
}

/** The providers that sealed these, as far as is known. */
export async function sealersOf(call: Call, seals: readonly string[], signatures: SignatureCache): Promise<ReadonlySet<string>> {
  const found = await signatures.find(call, seals.map(sealId));
  return new Set([...found.values()].flatMap(({ providerKey }) => providerKey ?? []));
}

const sealId = (seal: string): string => `seal ${sha256Hex(seal)}`;
