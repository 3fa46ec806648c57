/**
 * Ids of the tool calls of one answer. Some providers give two calls the same id, and then results could not be told
 * apart; clients of Responses refuse such an answer outright.
 */
export class UniqueCallIds {
  /** Each id, with the number it was last told apart by: a provider that repeats one has no search begin anew. */
  private readonly given = new Map<string, number>();

  /** The provider's own id, changed only where it stood before. */
  of(id: string): string {
    let unique = id;
    let n = this.given.get(id) ?? 1;
    while (this.given.has(unique)) unique = `${id}_${++n}`;
    this.given.set(unique, 1).set(id, n);
    return unique;
  }
}
