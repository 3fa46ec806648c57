import { type RefObject, useCallback, useRef, useState } from "react";
import { keepConversation, readConversation } from "./conversation-store.ts";
import type { KeptConversation } from "./conversation.ts";
import { mergeConversations } from "./merge-turns.ts";

/** The answer that comes here. */
export interface Asking {
  readonly turnId: string;
  abort(): void;
}

/** As it is kept while an answer comes: if the page ends first, that answer was stopped, or goes on from its calls. */
const keptMeanwhile = (conversation: KeptConversation, { turnId }: Asking): KeptConversation => ({
  ...conversation,
  turns: conversation.turns.map((turn) =>
    turn.id !== turnId ? turn : turn.rounds === undefined ? { ...turn, stopped: true } : { ...turn, text: "" },
  ),
});

export interface Keeping {
  /** Whether this browser could not keep what was last said. */
  readonly unkept: boolean;
  /** It was read as this just now, or is as new as this. */
  readonly readAs: (stored: KeptConversation) => void;
  /** Keeps it as it is when its turn comes. What is kept then, with what was said in other tabs; null where it could not be. */
  readonly keep: (conversation: KeptConversation) => Promise<KeptConversation | null>;
  /** Another tab kept it: what was said there is shown here too. */
  readonly join: (owner: string, handle: string) => Promise<void>;
  /** It was deleted: what waits to be kept of it is not. */
  readonly drop: (handle: string) => void;
}

/** Keeps a conversation in the browser's storage, in which other tabs may keep it at the same time. */
export function useKeeping(
  current: RefObject<KeptConversation | null>,
  asking: RefObject<Asking | null>,
  show: (conversation: KeptConversation) => void,
): Keeping {
  const [unkept, setUnkept] = useState(false);
  /** As it last was in the storage, as far as this tab knows. */
  const common = useRef<KeptConversation | null>(null);
  const last = useRef<Promise<unknown>>(Promise.resolve());
  const dropped = useRef(new Set<string>());

  /** One after the other: what is in common with other tabs goes on and never back. */
  const inTurn = useCallback(<T>(work: () => Promise<T>): Promise<T> => {
    const next = last.current.then(work);
    last.current = next.catch(() => null);
    return next;
  }, []);

  const readAs = useCallback((stored: KeptConversation) => (common.current = stored), []);

  const keep = useCallback(
    (conversation: KeptConversation) => {
      const { handle } = conversation;
      const asNow = (now: KeptConversation) => (asking.current === null ? now : keptMeanwhile(now, asking.current));
      const asLeft = asNow(conversation);
      return inTurn(async () => {
        if (dropped.current.has(handle)) return null;
        const here = current.current;
        const sent = here?.handle === handle ? asNow(here) : asLeft;
        try {
          const kept = await keepConversation(sent, common.current?.handle === handle ? common.current : { ...sent, turns: [] });
          setUnkept(false);
          const shown = current.current;
          if (shown?.handle !== handle) return kept;
          common.current = kept;
          if (kept.turns !== sent.turns) show(mergeConversations(sent, shown, kept));
          return kept;
        } catch {
          setUnkept(true);
          return null;
        }
      });
    },
    [asking, current, inTurn, show],
  );

  const join = useCallback(
    (owner: string, handle: string) =>
      inTurn(async () => {
        const now = await readConversation(owner, handle).catch(() => null);
        const shown = current.current;
        if (now === null || shown?.handle !== handle || common.current === null || now.write === common.current.write) return;
        const joined = mergeConversations(common.current, shown, now);
        common.current = now;
        show(joined);
      }),
    [current, inTurn, show],
  );

  const drop = useCallback((handle: string) => void dropped.current.add(handle), []);

  return { unkept, readAs, keep, join, drop };
}
