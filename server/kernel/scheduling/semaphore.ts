export interface SemaphoreLimits {
  /** Most permits at once. */
  readonly most: number;
  /** Most permits per key, so that slow work of one key leaves room for others; with several keys, a limit for each of them. */
  readonly mostOfOne: number | readonly number[];
  /** Longest wait for a permit, milliseconds. */
  readonly waitMs: number;
}

/** Acquires a permit for the keys, released by calling the result; null if none came free in time. */
export type Semaphore = (...keys: readonly string[]) => Promise<(() => void) | null>;

interface Waiting {
  readonly keys: readonly string[];
  readonly enter: () => void;
}

/**
 * A semaphore for work that holds a scarce resource, with a limit per key. Waiters are admitted in order, as far as their keys have room.
 */
export function semaphore({ most, mostOfOne, waitMs }: SemaphoreLimits): Semaphore {
  const limits = [mostOfOne].flat();
  const taken = limits.map(() => new Map<string, number>());
  const waiting = new Set<Waiting>();
  let inside = 0;
  const hasRoom = (keys: readonly string[]) =>
    inside < most && limits.every((limit, index) => (taken[index]?.get(keys[index] ?? "") ?? 0) < limit);
  const count = (keys: readonly string[], step: 1 | -1) => {
    inside += step;
    for (const [index, ofKey] of taken.entries()) {
      const key = keys[index] ?? "";
      const now = (ofKey.get(key) ?? 0) + step;
      if (now === 0) ofKey.delete(key);
      else ofKey.set(key, now);
    }
  };
  const take = (keys: readonly string[]) => {
    count(keys, 1);
    return () => {
      count(keys, -1);
      for (const one of waiting) if (hasRoom(one.keys)) one.enter();
    };
  };
  return async (...keys) => {
    if (hasRoom(keys)) return take(keys);
    return new Promise((resolve) => {
      const one: Waiting = {
        keys,
        enter() {
          clearTimeout(timer);
          waiting.delete(one);
          resolve(take(keys));
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
