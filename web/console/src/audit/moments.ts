/** A moment as ISO 8601 writes it, of whatever an address or a field says; nothing where that is none. */
export function momentOf(value: unknown): string | undefined {
  if (typeof value !== "string" || value === "" || Number.isNaN(Date.parse(value))) return undefined;
  return new Date(value).toISOString();
}

/** As a field for moments shows it: local, to the minute. */
export function localMoment(iso: string | undefined): string {
  if (iso === undefined) return "";
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
