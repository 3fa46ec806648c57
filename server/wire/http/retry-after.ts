/** The delay in a Retry-After header (seconds or a date) in milliseconds from now, at most `mostMs`; null if absent, invalid or past. */
export function msOfRetryAfter(headers: Headers, now: number, mostMs: number): number | null {
  const text = headers.get("retry-after");
  if (text === null) return null;
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(ms) && ms >= 0 ? Math.min(ms, mostMs) : null;
}
