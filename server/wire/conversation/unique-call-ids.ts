/**
 * Makes the tool call IDs of one answer unique. Some providers repeat IDs, which makes results ambiguous, and clients of
 * the Responses API reject such an answer.
 */
export class UniqueCallIds {
  /** Each ID with the last suffix used for it, so that repeated IDs do not cause repeated searches. */
  private readonly given = new Map<string, number>();

  /** The provider's ID, changed only if it occurred before. */
  of(id: string): string {
    let unique = id;
    let n = this.given.get(id) ?? 1;
    while (this.given.has(unique)) unique = `${id}_${++n}`;
    this.given.set(unique, 1).set(id, n);
    return unique;
  }
}
