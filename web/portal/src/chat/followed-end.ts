import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef } from "react";

/** Pixels above the end at which a reader is still at it: places on a screen are fractions of them. */
const AT_END_PX = 8;

interface FollowedEnd {
  readonly region: RefObject<HTMLDivElement | null>;
  readonly content: RefObject<HTMLDivElement | null>;
  /** Goes to the end and stays there. */
  follow(): void;
}

/**
 * Keeps the end of what grows in sight, once it has begun: what stands before the first turn is to be read. Whoever scrolls
 * up to read is left there until they come back to the end.
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
      // What is told of here may have happened before the text grew: only who went up has left the end.
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
