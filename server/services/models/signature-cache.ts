import type { Signed } from "../../wire/conversation/signatures.ts";
import type { KeptParts } from "./kept-store.ts";
import { KeptValues } from "./kept-values.ts";

/**
 * Reasoning and call signatures that the caller's format has no place for, by the ids of the calls: tool loops work across
 * formats.
 */
export class SignatureCache extends KeptValues<Signed> {
  constructor(parts: KeptParts) {
    super({ name: "kept-signatures", most: 50_000, weigh: () => 1 }, parts);
  }
}
