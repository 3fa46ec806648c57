interface OpenCall {
  readonly id: string;
  readonly name: string;
  answered: boolean;
}

/** A conversation's unanswered calls, found by ID, or else by name and order, in constant time. */
export class PendingToolCalls {
  private readonly byId = new Map<string, OpenCall[]>();
  private readonly byName = new Map<string, OpenCall[]>();

  add(id: string, name: string): void {
    const call = { id, name, answered: false };
    append(this.byId, id, call);
    append(this.byName, name, call);
  }

  /** Marks the call that a result answers as done and returns its ID; null if there is none. */
  answer(id: string | null, name: string | null): string | null {
    const call = (id === null ? undefined : firstOpen(this.byId.get(id))) ?? (name === null ? undefined : firstOpen(this.byName.get(name)));
    if (call === undefined) return null;
    call.answered = true;
    return call.id;
  }
}

function append(calls: Map<string, OpenCall[]>, key: string, call: OpenCall): void {
  const known = calls.get(key);
  if (known === undefined) calls.set(key, [call]);
  else known.push(call);
}

function firstOpen(calls: OpenCall[] | undefined): OpenCall | undefined {
  while (calls?.[0]?.answered === true) calls.shift();
  return calls?.[0];
}
