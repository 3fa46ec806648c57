import { type RefObject, useCallback, useRef, useState } from "react";
import { keepConversation, readConversation } from "./conversation-store.ts";
import type { StoredConversation } from "./conversation.ts";
import { mergeConversations } from "./merge-turns.ts";

/** The answer being received in this tab. */
export interface Asking {
  readonly turnId: string;
  abort(): void;
}

/** What is stored while an answer streams: if the page closes first, the answer counts as stopped, or resumes at its tool calls. */
const keptMeanwhile = (conversation: StoredConversation, { turnId }: Asking): StoredConversation => ({
  ...conversation,
  turns: conversation.turns.map((turn) =>
    turn.id !== turnId ? turn : turn.rounds === undefined ? { ...turn, stopped: true } : { ...turn, text: "" },
  ),
});

export interface Keeping {
  /** Whether the browser failed to store the latest turns. */
  readonly unkept: boolean;
  /** Sets the stored version this tab is based on. */
  readonly readAs: (stored: StoredConversation) => void;
  /** Stores the conversation, after earlier writes. Resolves to what is stored, merged with other tabs' changes; null if storing failed. */
  readonly keep: (conversation: StoredConversation) => Promise<StoredConversation | null>;
  /** Takes over what another tab stored. */
  readonly join: (owner: string, handle: string) => Promise<void>;
  /** The conversation was deleted: discards pending writes of it. */
  readonly drop: (handle: string) => void;
}

/** Stores a conversation in the browser's storage, to which other tabs may write at the same time. */
export function useKeeping(
  current: RefObject<StoredConversation | null>,
  asking: RefObject<Asking | null>,
  show: (conversation: StoredConversation) => void,
): Keeping {
  const [unkept, setUnkept] = useState(false);
  /** The last stored version this tab knows of. */
  const common = useRef<StoredConversation | null>(null);
  const last = useRef<Promise<unknown>>(Promise.resolve());
  const dropped = useRef(new Set<string>());

  /** Writes run one after the other, so that the common version only moves forward. */
  const inTurn = useCallback(<T>(work: () => Promise<T>): Promise<T> => {
    const next = last.current.then(work);
    last.current = next.catch(() => null);
    return next;
  }, []);

  const readAs = useCallback((stored: StoredConversation) => (common.current = stored), []);

  const keep = useCallback(
    (conversation: StoredConversation) => {
      const { handle } = conversation;
      const asNow = (now: StoredConversation) => (asking.current === null ? now : keptMeanwhile(now, asking.current));
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
