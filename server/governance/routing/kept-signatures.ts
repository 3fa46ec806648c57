import { BoundedMap } from "../../directory/bounded-map.ts";
import type { Signed } from "../../wire/conversation/signatures.ts";
import type { Call } from "../call.ts";

const KEPT_MS = 24 * 3_600_000;
const MOST = 50_000;

interface Kept {
  readonly signed: Signed;
  readonly until: number;
}

/**
 * Reasoning and call signatures that the caller's format has no place for, for 24 hours, within the caller's own scope:
 * tool loops work across formats, and one credential never sees another's.
 */
export class KeptSignatures {
  private readonly kept = new BoundedMap<string, Kept>(MOST);
  private readonly now: () => number;

  constructor(now: () => number) {
    this.now = now;
  }

  keep(call: Call, signed: ReadonlyMap<string, Signed>): void {
    for (const [callId, value] of signed) this.kept.set(keyOf(call, callId), { signed: value, until: this.now() + KEPT_MS });
  }

  find(call: Call, callId: string): Signed | null {
    const found = this.kept.get(keyOf(call, callId));
    return found === undefined || found.until <= this.now() ? null : found.signed;
  }
}

function keyOf({ identity }: Call, callId: string): string {
  return `${identity?.tenantId}\n${identity?.userId ?? identity?.apiKeyId}\n${callId}`;
}
