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

/** What somebody looks back over most, by the days of where they are. */
export const PERIODS = { hour: "The last hour", today: "Today", yesterday: "Yesterday", week: "The last 7 days" } as const;
export type SearchPeriod = keyof typeof PERIODS;

/** Where a period begins and ends; one that goes on has no end. */
export function boundsOf(period: SearchPeriod, now: Date): { readonly from: string; readonly to: string } {
  const day = (before: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() - before).toISOString();
  switch (period) {
    case "hour":
      return { from: new Date(now.getTime() - 3_600_000).toISOString(), to: "" };
    case "today":
      return { from: day(0), to: "" };
    case "yesterday":
      return { from: day(1), to: day(0) };
    case "week":
      return { from: day(6), to: "" };
  }
}
