import type { ChatTurn, StoredConversation } from "./conversation.ts";

type Turns = readonly ChatTurn[];

/**
 * Merges a conversation's turns when two tabs change it at once: `own` are this tab's turns, `base` the last common version, and `stored`
 * what other tabs stored since. No tab's new turns are lost, and turns removed by one stay removed. A turn that this tab changed (another
 * object than in `base`) keeps this tab's version; all others take the stored one.
 */
export function mergeTurns(base: Turns, own: Turns, stored: Turns): Turns {
  const [before, mine, theirs] = [base, own, stored].map((turns) => new Map(turns.map((turn) => [turn.id, turn])));
  if (before === undefined || mine === undefined || theirs === undefined) return own;
  const isChangedHere = (turn: ChatTurn) => before.get(turn.id) !== turn;
  const merged = stored.flatMap((turn) => {
    const here = mine.get(turn.id);
    if (here === undefined) return before.has(turn.id) ? [] : [turn];
    return [isChangedHere(here) ? here : turn];
  });
  let previous: string | undefined;
  for (const turn of own) {
    if (!theirs.has(turn.id) && isChangedHere(turn)) merged.splice(placeOf(merged, previous, turn, mine), 0, turn);
    if (merged.some(({ id }) => id === turn.id)) previous = turn.id;
  }
  return merged;
}

/** After the turn it follows in this tab, and after what other tabs asked there earlier. An answer stays with its question. */
function placeOf(merged: Turns, previous: string | undefined, turn: ChatTurn, mine: ReadonlyMap<string, ChatTurn>): number {
  let at = previous === undefined ? 0 : merged.findIndex(({ id }) => id === previous) + 1;
  if (turn.role === "assistant") return at;
  for (let next = merged[at]; next !== undefined && !mine.has(next.id); next = merged[at]) at++;
  return at;
}

/**
 * Merges a conversation changed by two tabs at once. Title, tools and other settings are this tab's if it changed them since `base`,
 * otherwise the others'.
 */
export function mergeConversations(base: StoredConversation, own: StoredConversation, stored: StoredConversation): StoredConversation {
  const changed = (Object.keys(own) as (keyof StoredConversation)[]).filter((member) => own[member] !== base[member]);
  return {
    ...stored,
    ...Object.fromEntries(changed.map((member) => [member, own[member]])),
    turns: mergeTurns(base.turns, own.turns, stored.turns),
  };
}
