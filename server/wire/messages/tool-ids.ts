const REFUSED = /[^A-Za-z0-9_-]/g;

/** Whether the vendor reads a call's id; what is no text is its own to answer. */
export function isTakenId(id: unknown): boolean {
  return typeof id !== "string" || id.replace(REFUSED, "_") === id;
}

/**
 * Ids of tool calls as the vendor takes them: letters, digits, `_` and `-`, and none twice in a conversation. A result
 * answers the earliest call of its id that has none yet, because some providers count their ids anew in every turn.
 */
export class ToolIds {
  /** Each with the number it was last told apart by: a caller who repeats one has no search begin anew. */
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
