import type { Log } from "../../../kernel/log.ts";
import type { SecretBox } from "../../../kernel/secrets.ts";
import type { Call } from "../../../road/call.ts";

export interface CachedValue<Value> {
  /** Null: it is known that there is nothing. */
  readonly value: Value | null;
  readonly until: number;
}

export interface StoredValue {
  readonly tenant_id: string;
  /** Tells nothing of the caller or of what is kept. */
  readonly name: string;
  readonly sealed: string;
  readonly expires_at: Date;
}

/** Persistent storage for kept values. */
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

/** The name of a kind of kept values, and how much of it memory holds. */
export interface CacheKind<Value> {
  readonly name: string;
  /** The most that memory holds, as `weigh` has it. */
  readonly most: number;
  weigh(value: Value): number;
  /** Whether what a call leaves may outlive the process; always when left out. */
  outlives?(call: Call): boolean;
}
