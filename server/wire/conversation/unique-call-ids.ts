/**
 * Ids of the tool calls of one answer. Some providers give two calls the same id, and then results could not be told
 * apart; clients of Responses refuse such an answer outright.
 */
export class UniqueCallIds {
  private readonly given = new Set<string>();

  /** The provider's own id, changed only where it stood before. */
  of(id: string): string {
    let unique = id;
    for (let n = 2; this.given.has(unique); n++) unique = `${id}_${n}`;
    this.given.add(unique);
    return unique;
  }
}
