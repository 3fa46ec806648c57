/** What a Retry-After header says, in seconds or as a date: milliseconds from now, at most `mostMs`; null where it says nothing to come. */
export function msOfRetryAfter(headers: Headers, now: number, mostMs: number): number | null {
  const text = headers.get("retry-after");
  if (text === null) return null;
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(ms) && ms >= 0 ? Math.min(ms, mostMs) : null;
}
