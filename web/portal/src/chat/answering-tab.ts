import { useCallback, useEffect, useRef, useState } from "react";

const lockOf = (handle: string) => `gatehouse.answer.${handle}`;
/** Undefined in insecure contexts, such as pages loaded over plain HTTP from another machine. */
const locks = navigator.locks as LockManager | undefined;

/** Holds a lock while this tab answers in a conversation, so that other tabs can tell; the browser releases it if the tab closes. */
export async function whileAnswering(handle: string, work: () => Promise<void>): Promise<void> {
  if (locks === undefined) return work();
  await locks.request(lockOf(handle), { ifAvailable: true }, work);
}

/** Whether another tab is answering in the conversation. Checked once, and again whenever `look` is called. */
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
