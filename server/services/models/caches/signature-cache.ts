import type { Call } from "../../../road/call.ts";
import type { ModelEntry } from "../../../directory/snapshot.ts";
import { sha256Hex } from "../../../kernel/secrets.ts";
import type { Signed } from "../../../wire/conversation/signatures.ts";
import type { CacheParts } from "./cache-store.ts";
import { StoreBackedCache } from "./store-backed-cache.ts";

/** `providerKey` names the provider that signed; older gateway versions did not store it. */
export interface SignedByProvider extends Signed {
  readonly providerKey?: string;
}

/**
 * Reasoning and call signatures that the caller's format has no place for, by tool call ID, so that tool loops work across formats. For
 * sealed reasoning that the caller sends back itself, the sealing provider, by the hash of the sealed text.
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
 * The signatures that the model's provider can read. Reasoning sealed by OpenAI opens for no other account, which would refuse the whole
 * request.
 */
export function readableBy({ provider }: ModelEntry, signed: SignedByProvider): Signed {
  if (signed.providerKey === undefined || signed.providerKey === provider.providerKey) return signed;
  return { ...signed, reasoning: signed.reasoning.filter(({ signature }) => signature?.family !== "openai") };
}

/** Records that the model's provider sealed these reasoning items. */
export function sealedBy({ provider: { providerKey } }: ModelEntry, seals: readonly string[]): Map<string, SignedByProvider> {
  return new Map(seals.map((seal) => [sealId(seal), { call: null, reasoning: [], providerKey }]));
}

/** The seals known to be from another provider. */
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

/** The providers known to have made these seals. */
export async function sealersOf(call: Call, seals: readonly string[], signatures: SignatureCache): Promise<ReadonlySet<string>> {
  const found = await signatures.find(call, seals.map(sealId));
  return new Set([...found.values()].flatMap(({ providerKey }) => providerKey ?? []));
}

const sealId = (seal: string): string => `seal ${sha256Hex(seal)}`;
