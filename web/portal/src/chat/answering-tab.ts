import { useCallback, useEffect, useRef, useState } from "react";

const lockOf = (handle: string) => `gatehouse.answer.${handle}`;
/** None in pages that came over plain HTTP from another machine. */
const locks = navigator.locks as LockManager | undefined;

/** Lets other tabs know that this one answers in a conversation, until it does no more or is gone. */
export async function whileAnswering(handle: string, work: () => Promise<void>): Promise<void> {
  if (locks === undefined) return work();
  await locks.request(lockOf(handle), { ifAvailable: true }, work);
}

/** Whether another tab is just answering in the conversation. It looks by itself once, and when it is told of a change there. */
export function useAnsweredElsewhere(handle: string, isHere: boolean): { readonly elsewhere: boolean; readonly look: () => void } {
  const [elsewhere, setElsewhere] = useState(false);
  const looking = useRef<AbortController | null>(null);
  const look = useCallback(() => {
    if (locks === undefined || looking.current !== null) return;
    const stop = new AbortController();
    looking.current = stop;
    const wait = async () => {
      const { held = [] } = await locks.query();
      if (stop.signal.aborted || !held.some(({ name, mode }) => name === lockOf(handle) && mode === "exclusive")) return;
      setElsewhere(true);
      await locks.request(lockOf(handle), { mode: "shared", signal: stop.signal }, () => {});
    };
    void wait()
      .catch(() => {})
      .finally(() => {
        if (looking.current !== stop) return;
        looking.current = null;
        setElsewhere(false);
      });
  }, [handle]);
  useEffect(() => {
    if (isHere) return undefined;
    look();
    return () => {
      looking.current?.abort();
      looking.current = null;
      setElsewhere(false);
    };
  }, [look, isHere]);
  return { elsewhere, look };
}
