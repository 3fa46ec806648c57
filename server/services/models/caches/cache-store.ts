import type { Log } from "../../../kernel/log.ts";
import type { SecretBox } from "../../../kernel/secrets.ts";
import type { Call } from "../../../road/call.ts";

export interface CachedValue<Value> {
  /** Null: it is known that the store has no such value. */
  readonly value: Value | null;
  readonly until: number;
}

export interface StoredValue {
  readonly tenant_id: string;
  /** An HMAC, which reveals neither the caller nor the value. */
  readonly name: string;
  readonly sealed: string;
  readonly expires_at: Date;
}

/** Persistent storage for cached values. */
export interface CacheStore {
  write(rows: readonly StoredValue[]): Promise<void>;
  read(
    tenantId: string,
    names: readonly string[],
  ): Promise<readonly { readonly name: string; readonly sealed: string; readonly expires_at: Date }[]>;
}

export interface CacheParts {
  readonly now: () => number;
  readonly store: CacheStore;
  readonly secrets: SecretBox;
  readonly log: Log;
}

/** A kind of cached values, and how much of it is held in memory. */
export interface CacheKind<Value> {
  readonly name: string;
  /** Most that memory holds, in the units of `weigh`. */
  readonly most: number;
  weigh(value: Value): number;
  /** Whether values of this call may be stored beyond the process; always by default. */
  outlives?(call: Call): boolean;
}
