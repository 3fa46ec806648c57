import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef } from "react";

/** Within this many pixels of the end, a reader counts as being there: scroll positions are fractional. */
const AT_END_PX = 8;

interface FollowedEnd {
  readonly region: RefObject<HTMLDivElement | null>;
  readonly content: RefObject<HTMLDivElement | null>;
  /** Scrolls to the end and stays there. */
  follow(): void;
}

/**
 * Keeps the end of growing content in view once the conversation has begun; before that, the text above the first turn is to be read. A
 * reader who scrolls up is left there until they return to the end.
 */
export function useFollowedEnd(hasBegun: boolean): FollowedEnd {
  const region = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const begun = useRef(hasBegun);
  useLayoutEffect(() => {
    begun.current = hasBegun;
  }, [hasBegun]);
  const toEnd = useCallback(() => {
    if (region.current !== null) region.current.scrollTop = region.current.scrollHeight;
  }, []);
  useEffect(() => {
    const [scrolled, inner] = [region.current, content.current];
    if (scrolled === null || inner === null) return undefined;
    let before = scrolled.scrollTop;
    const onScroll = () => {
      const top = scrolled.scrollTop;
      // The event may be older than the text's growth: only scrolling up stops following.
      if (scrolled.scrollHeight - scrolled.clientHeight - top <= AT_END_PX) follows.current = true;
      else if (top < before) follows.current = false;
      before = top;
    };
    const grown = new ResizeObserver(() => begun.current && follows.current && toEnd());
    grown.observe(inner);
    grown.observe(scrolled);
    scrolled.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      grown.disconnect();
      scrolled.removeEventListener("scroll", onScroll);
    };
  }, [toEnd]);
  const follow = useCallback(() => {
    follows.current = true;
    toEnd();
  }, [toEnd]);
  return { region, content, follow };
}
