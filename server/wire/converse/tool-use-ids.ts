import { createHash } from "node:crypto";

const ACCEPTED = /^[A-Za-z0-9_-]{1,64}$/;

const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 24);

/** An ID for a call without one, derived from its position in the answer. */
export function newToolUseId(position: number): string {
  return `call_${digest(`part ${position}`)}`;
}

/**
 * Maps a conversation's tool call IDs to what Bedrock accepts: letters, digits, `_` and `-`, at most 64, unique. A result
 * answers the earliest unanswered call of its ID, because some providers restart their IDs in every turn.
 */
export class ToolUseIds {
  private readonly used = new Set<string>();
  /** Where the search for an unused ID continues; restarting it for each repeated ID would take quadratic time. */
  private readonly tried = new Map<string, number>();
  private readonly open = new Map<string, string[]>();
  private readonly latest = new Map<string, string>();

  ofCall(id: string): string {
    let written = accepted(id);
    let again = this.tried.get(id) ?? 1;
    while (this.used.has(written)) written = `call_${digest(`${id} ${++again}`)}`;
    this.tried.set(id, again);
    this.used.add(written);
    this.latest.set(id, written);
    const open = this.open.get(id);
    if (open === undefined) this.open.set(id, [written]);
    else open.push(written);
    return written;
  }

  ofResult(callId: string): string {
    return this.open.get(callId)?.shift() ?? this.latest.get(callId) ?? accepted(callId);
  }
}

function accepted(id: string): string {
  return ACCEPTED.test(id) ? id : `call_${digest(id)}`;
}
