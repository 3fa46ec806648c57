import type { SecretBox } from "../../kernel/secrets.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { Directory, Write } from "./write.ts";

/** The operations of every directory resource. `Scope` is the tenant it is limited to; null means all, where allowed. */
export interface Records<Read, Create, Update, Filters, Scope extends string | null = string> {
  list(directory: Directory, scope: Scope, filters: Filters, page: Page): Promise<Paged<Read>>;
  /** Throws a `not_found` refusal, as do update and remove. */
  get(directory: Directory, scope: Scope, id: string): Promise<Read>;
  create(write: Write, scope: Scope, body: Create): Promise<Read>;
  update(write: Write, scope: Scope, id: string, body: Update): Promise<Read>;
  remove(write: Write, scope: Scope, id: string): Promise<void>;
}

export interface RecordSpec<
  Row extends { id: string },
  Insert extends { id: string },
  Patch,
  Read,
  Create,
  Update,
  Filters,
  Scope extends string | null,
> {
  /** Plural, as in the admin log. */
  readonly resource: string;
  /** Singular, for messages. */
  readonly noun: string;
  readonly store: RecordStore<Row, Insert, Patch, Filters, Scope>;
  /** `secrets` decrypts stored values that may be shown. */
  read(row: Row, secrets: SecretBox): Read;
  /** What the admin log records of a row, permanently; the result of `read` if omitted. */
  logged?(row: Row): object;
  /** The tenant of a row, for its log entries. */
  tenantOf(row: Row): string | null;
  /** Runs before anything is read, to take locks that cover more than one row. */
  begin?(write: Write, scope: Scope): Promise<void>;
  /** The unique properties as named in a conflict; "of this name" if omitted. */
  readonly unique?: string;
  /** The ID of another record with the same unique properties. */
  takenBy(write: Write, scope: Scope, candidate: Insert | Row): Promise<string | undefined>;
  toInsert(write: Write, scope: Scope, body: Create): Promise<Insert>;
  toPatch(write: Write, scope: Scope, row: Row, body: Update): Promise<Patch>;
  /** Runs after the insert, for related rows in other tables. */
  created?(write: Write, scope: Scope, row: Row, body: Create): Promise<void>;
  /** What still depends on the row, in words such as "3 models". The row can be removed only if this is empty. */
  dependents(write: Write, row: Row): Promise<string[]>;
  /** Runs before the row is removed, to remove what belongs to it. */
  removing?(write: Write, row: Row): Promise<void>;
  notify(write: Write, row: Row): void;
}
