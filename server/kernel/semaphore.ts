export interface SemaphoreLimits {
  /** At once. */
  readonly most: number;
  /** Of these under one key, so that what is slow for one leaves room for the others. */
  readonly mostOfOne: number;
  /** Longest wait for a place, milliseconds. */
  readonly waitMs: number;
}

/** Acquires a permit for the key, released by calling the result; null when none came free in time. */
export type Semaphore = (key: string) => Promise<(() => void) | null>;

interface Waiting {
  readonly key: string;
  readonly enter: () => void;
}

/**
 * A semaphore for work that holds something scarce, with a limit for each key. Waiters are admitted in order, as far as their key has
 * room.
 */
export function semaphore({ most, mostOfOne, waitMs }: SemaphoreLimits): Semaphore {
  const taken = new Map<string, number>();
  const waiting = new Set<Waiting>();
  let inside = 0;
  const hasRoom = (key: string) => inside < most && (taken.get(key) ?? 0) < mostOfOne;
  const take = (key: string) => {
    inside++;
    taken.set(key, (taken.get(key) ?? 0) + 1);
    return () => {
      inside--;
      const left = (taken.get(key) as number) - 1;
      if (left === 0) taken.delete(key);
      else taken.set(key, left);
      for (const one of waiting) if (hasRoom(one.key)) one.enter();
    };
  };
  return async (key) => {
    if (hasRoom(key)) return take(key);
    return new Promise((resolve) => {
      const one: Waiting = {
        key,
        enter() {
          clearTimeout(timer);
          waiting.delete(one);
          resolve(take(key));
        },
      };
      const timer = setTimeout(() => {
        waiting.delete(one);
        resolve(null);
      }, waitMs);
      waiting.add(one);
    });
  };
}
