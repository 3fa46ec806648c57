/** What a Retry-After header says, in seconds or as a date: milliseconds from now, less than none where it is past; null when it is neither. */
export function msOfRetryAfter(text: string | null, now: number): number | null {
  if (text === null) return null;
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(ms) ? ms : null;
}
