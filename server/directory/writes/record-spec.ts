import type { SecretBox } from "../../kernel/secrets.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { Directory, Write } from "./write.ts";

/** What every directory resource offers. `Scope` is the tenant it is held to; null means all, where that may be. */
export interface Records<Read, Create, Update, Filters, Scope extends string | null = string> {
  list(directory: Directory, scope: Scope, filters: Filters, page: Page): Promise<Paged<Read>>;
  /** Throws a `not_found` refusal, as update and remove do. */
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
  /** Plural, as the admin log names it. */
  readonly resource: string;
  /** Singular, for people. */
  readonly noun: string;
  readonly store: RecordStore<Row, Insert, Patch, Filters, Scope>;
  /** `secrets` opens what is sealed beside what may be shown. */
  read(row: Row, secrets: SecretBox): Read;
  /** What the admin log tells of a row, which can never be taken back; all that is read when left out. */
  logged?(row: Row): object;
  /** The tenant a row belongs to, for its log entries. */
  tenantOf(row: Row): string | null;
  /** Runs before anything is read: takes the locks that more than one row needs. */
  begin?(write: Write, scope: Scope): Promise<void>;
  /** What must be unique, as a conflict says it; "of this name" when left out. */
  readonly unique?: string;
  /** Id of another record that already has what must be unique. */
  twin(write: Write, scope: Scope, candidate: Insert | Row): Promise<string | undefined>;
  toInsert(write: Write, scope: Scope, body: Create): Promise<Insert>;
  toPatch(write: Write, scope: Scope, row: Row, body: Update): Promise<Patch>;
  /** After the row is in: what belongs to it in other tables. */
  created?(write: Write, scope: Scope, row: Row, body: Create): Promise<void>;
  /** What still depends on the row, in words such as "3 models"; nothing lets it go. */
  dependents(write: Write, row: Row): Promise<string[]>;
  /** Before the row goes: what goes with it. */
  removing?(write: Write, row: Row): Promise<void>;
  notify(write: Write, row: Row): void;
}
