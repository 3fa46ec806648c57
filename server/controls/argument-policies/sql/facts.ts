/** What an analysis found in a piece of SQL. Where something is not known, the worse is assumed. */
export interface SqlFacts {
  /** Why it could not be read whole, as a sentence; null when it was. The other facts are then what could be seen. */
  readonly unparseable: string | null;
  readonly statements: number;
  /** Anything but reading: data changes, definitions, session and transaction commands, functions not known to only read. */
  readonly writes: boolean;
  readonly ddl: boolean;
  /** Reads or writes tables that its text does not name, such as through a text that is itself run. */
  readonly opaque: boolean;
  /** Dotted names as written, lower case, without quotes. */
  readonly tables: readonly string[];
}

export function unreadableFacts(why: string, seen: Partial<SqlFacts> = {}): SqlFacts {
  return { statements: 0, writes: false, ddl: false, opaque: false, tables: [], ...seen, unparseable: why };
}
