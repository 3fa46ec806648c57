/** What an analysis found in a piece of SQL. Where something is unknown, the worse is assumed. */
export interface SqlFacts {
  /** Why it could not be fully read, as a sentence; null if it was. The other facts then cover only what could be read. */
  readonly unparseable: string | null;
  readonly statements: number;
  /** Anything but reading: data changes, DDL, session and transaction commands, functions not known to only read. */
  readonly writes: boolean;
  readonly ddl: boolean;
  /** Accesses tables that its text does not name, for example through dynamic SQL. */
  readonly opaque: boolean;
  /** Dotted names as written, in lower case, without quotes. */
  readonly tables: readonly string[];
}

export function unreadableFacts(why: string, seen: Partial<SqlFacts> = {}): SqlFacts {
  return { statements: 0, writes: false, ddl: false, opaque: false, tables: [], ...seen, unparseable: why };
}
