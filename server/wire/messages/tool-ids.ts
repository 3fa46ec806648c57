const REFUSED = /[^A-Za-z0-9_-]/g;

/** Whether the vendor accepts a call's ID; a value that is not a string is left to the vendor. */
export function isTakenId(id: unknown): boolean {
  return typeof id !== "string" || id.replace(REFUSED, "_") === id;
}

/**
 * Maps tool call IDs to what the vendor accepts: letters, digits, `_` and `-`, unique within a conversation. A result
 * answers the earliest unanswered call of its ID, because some providers restart their IDs in every turn.
 */
export class ToolIds {
  /** Each ID with the last number used to distinguish it, so that repeated IDs do not cause repeated searches. */
  private readonly taken = new Map<string, number>();
  private readonly open = new Map<string, string[]>();
  private readonly latest = new Map<string, string>();

  ofCall(id: string): string {
    const plain = id.replace(REFUSED, "_") || "call";
    let unique = plain;
    let i = this.taken.get(plain) ?? 1;
    while (this.taken.has(unique)) unique = `${plain}_${++i}`;
    this.taken.set(unique, 1).set(plain, i);
    this.latest.set(id, unique);
    const open = this.open.get(id);
    if (open === undefined) this.open.set(id, [unique]);
    else open.push(unique);
    return unique;
  }

  ofResult(id: string): string {
    return this.open.get(id)?.shift() ?? this.latest.get(id) ?? (id.replace(REFUSED, "_") || "call");
  }
}
