import type { ModelEntry } from "../../directory/snapshot.ts";
import type { Signed } from "../../wire/conversation/signatures.ts";
import type { KeptParts } from "./kept-store.ts";
import { KeptValues } from "./kept-values.ts";

/** `providerKey` names the provider that signed; it is missing in what an older gateway kept. */
export interface SignedByProvider extends Signed {
  readonly providerKey?: string;
}

/**
 * Reasoning and call signatures that the caller's format has no place for, by the ids of the calls: tool loops work across
 * formats.
 */
export class SignatureCache extends KeptValues<SignedByProvider> {
  constructor(parts: KeptParts) {
    super({ name: "kept-signatures", most: 50_000, weigh: () => 1 }, parts);
  }
}

/** What an answer of the model signed, with the provider it came from. */
export function signedBy(
  { provider: { providerKey } }: ModelEntry,
  signed: ReadonlyMap<string, Signed | null>,
): Map<string, SignedByProvider | null> {
  return new Map([...signed].map(([callId, one]) => [callId, one === null ? null : { ...one, providerKey }]));
}

/** What of it the model's provider can read: reasoning that OpenAI sealed opens for no other account, which refuses the whole request. */
export function readableBy({ provider }: ModelEntry, signed: SignedByProvider): Signed {
  if (signed.providerKey === undefined || signed.providerKey === provider.providerKey) return signed;
  return { ...signed, reasoning: signed.reasoning.filter(({ signature }) => signature?.family !== "openai") };
}
