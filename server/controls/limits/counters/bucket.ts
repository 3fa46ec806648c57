/** A token bucket with lazy refill. `level` may be negative, because usage is charged after the fact. */
export interface TokenBucket {
  level: number;
  at: number;
}

/** Refills for the time passed since `at`; a clock that went back refills nothing. */
export function refill(bucket: TokenBucket, perMinute: number, capacity: number, now: number): void {
  const passed = now - bucket.at;
  if (passed > 0) {
    bucket.level = Math.min(capacity, bucket.level + (passed * perMinute) / 60_000);
    bucket.at = now;
  }
  if (bucket.level > capacity) bucket.level = capacity;
}

/** Milliseconds until the bucket holds `needed` tokens again. */
export function msUntil(bucket: TokenBucket, needed: number, perMinute: number): number {
  return perMinute <= 0 ? 60_000 : Math.max(0, Math.ceil(((needed - bucket.level) * 60_000) / perMinute));
}
