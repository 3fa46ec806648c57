import { BoundedMap } from "../../directory/bounded-map.ts";
import type { Log } from "../../kernel/log.ts";
import type { SecretBox } from "../../kernel/secrets.ts";
import type { Signed } from "../../wire/conversation/signatures.ts";
import type { Call } from "../../road/call.ts";

const KEPT_MS = 24 * 3_600_000;
const MOST = 50_000;
const MAX_WAITING = 10_000;
const WRITTEN_TOGETHER = 500;
/** How long a call waits for the store, and how long nobody waits for one that did not answer. */
const PATIENCE_MS = 1_000;
const AWAY_MS = 5_000;
/** How long an id that the store does not know is not asked for again. */
const UNKNOWN_MS = 10_000;

interface Kept {
  /** Null: the call was signed with nothing. */
  readonly signed: Signed | null;
  readonly until: number;
}

interface StoredSignature {
  readonly tenant_id: string;
  /** Tells nothing of the caller or the call. */
  readonly name: string;
  readonly sealed: string;
  readonly expires_at: Date;
}

/** Where signatures outlive the process. */
export interface SignatureStore {
  write(rows: readonly StoredSignature[]): Promise<void>;
  read(
    tenantId: string,
    names: readonly string[],
  ): Promise<readonly { readonly name: string; readonly sealed: string; readonly expires_at: Date }[]>;
}

export interface SignatureCacheParts {
  readonly now: () => number;
  readonly store: SignatureStore;
  readonly secrets: SecretBox;
  readonly log: Log;
}

/**
 * Reasoning and call signatures that the caller's format has no place for, for 24 hours, within the caller's own scope:
 * tool loops work across formats, and one credential never sees another's. Memory answers first. What is kept is written
 * to the store behind the call, and the store is asked for what memory does not know: another process, or the same one
 * after a restart, continues the loop.
 */
export class SignatureCache {
  private readonly cached = new BoundedMap<string, Kept>(MOST);
  private readonly parts: SignatureCacheParts;
  private readonly waiting = new Map<string, StoredSignature>();
  private writing: Promise<void> | null = null;
  private awayUntil = 0;

  constructor(parts: SignatureCacheParts) {
    this.parts = parts;
  }

  keep(call: Call, signed: ReadonlyMap<string, Signed | null>): void {
    const until = this.parts.now() + KEPT_MS;
    for (const [callId, value] of signed) {
      this.cached.set(keyOf(call, callId), { signed: value, until });
      if (value !== null) this.write(call, callId, value, until);
    }
  }

  /** What is kept of these calls, by their ids. Answers at once where memory knows them all; a store that is away is no store. */
  find(call: Call, callIds: readonly string[]): ReadonlyMap<string, Signed> | Promise<ReadonlyMap<string, Signed>> {
    const now = this.parts.now();
    const found = new Map<string, Signed>();
    const unknown: string[] = [];
    for (const callId of callIds) {
      const kept = this.cached.get(keyOf(call, callId));
      if (kept === undefined || kept.until <= now) unknown.push(callId);
      else if (kept.signed !== null) found.set(callId, kept.signed);
    }
    return unknown.length === 0 || this.awayUntil > now ? found : this.read(call, unknown, found);
  }

  /** Resolves when everything kept so far is in the store, or the store would not take it. */
  async flush(): Promise<void> {
    while (this.waiting.size > 0 || this.writing !== null) {
      const before = this.waiting.size;
      await (this.writing ?? (this.writing = this.writeWaiting()));
      if (this.waiting.size >= before && before > 0) return;
    }
  }

  private write(call: Call, callId: string, signed: Signed, until: number): void {
    const tenantId = call.identity?.tenantId;
    if (tenantId === undefined) return;
    const name = this.nameOf(call, callId);
    this.waiting.set(name, {
      tenant_id: tenantId,
      name,
      sealed: this.parts.secrets.seal(JSON.stringify(signed), contextOf(name)),
      expires_at: new Date(until),
    });
    if (this.waiting.size > MAX_WAITING) this.waiting.delete(this.waiting.keys().next().value as string);
    if (this.awayUntil <= this.parts.now()) this.writing ??= this.writeWaiting();
  }

  /** One batch after another until none waits. What was not written waits for the next thing kept, or for `flush`. */
  private async writeWaiting(): Promise<void> {
    // What else the same answer keeps goes along.
    await Promise.resolve();
    try {
      while (this.waiting.size > 0) {
        const rows = [...this.waiting.values()].slice(0, WRITTEN_TOGETHER);
        await this.parts.store.write(rows);
        for (const row of rows) if (this.waiting.get(row.name) === row) this.waiting.delete(row.name);
      }
    } catch (error) {
      this.away("signatures_not_written", error);
    } finally {
      this.writing = null;
    }
  }

  private async read(call: Call, callIds: readonly string[], found: Map<string, Signed>): Promise<ReadonlyMap<string, Signed>> {
    const { store, now } = this.parts;
    const names = new Map(callIds.map((callId) => [this.nameOf(call, callId), callId]));
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error("the store did not answer in time")), PATIENCE_MS);
      });
      const rows = await Promise.race([store.read(call.identity?.tenantId ?? "", [...names.keys()]), late]);
      for (const callId of callIds) this.cached.set(keyOf(call, callId), { signed: null, until: now() + UNKNOWN_MS });
      for (const { name, sealed, expires_at } of rows) {
        const callId = names.get(name);
        const signed = this.opened(name, sealed);
        if (callId === undefined || signed === null) continue;
        this.cached.set(keyOf(call, callId), { signed, until: expires_at.getTime() });
        found.set(callId, signed);
      }
    } catch (error) {
      this.away("signatures_not_read", error);
    } finally {
      clearTimeout(timer);
    }
    return found;
  }

  /** Null for what another key sealed: a loop without its signatures is better than none. */
  private opened(name: string, sealed: string): Signed | null {
    try {
      return JSON.parse(this.parts.secrets.open(sealed, contextOf(name))) as Signed;
    } catch (error) {
      this.parts.log.warn("signature_not_opened", { error: error as Error });
      return null;
    }
  }

  private away(event: string, error: unknown): void {
    this.awayUntil = this.parts.now() + AWAY_MS;
    this.parts.log.warn(event, { error: error as Error });
  }

  private nameOf(call: Call, callId: string): string {
    return this.parts.secrets.hmac("kept-signatures", keyOf(call, callId));
  }
}

function contextOf(name: string): string {
  return `kept_signatures:${name}`;
}

function keyOf({ identity }: Call, callId: string): string {
  return `${identity?.tenantId}\n${identity?.userId ?? identity?.credentialId}\n${callId}`;
}
