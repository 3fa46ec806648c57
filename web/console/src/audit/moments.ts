/** The ISO 8601 timestamp of a value from the URL or a field; undefined if it is not a valid date. */
export function momentOf(value: unknown): string | undefined {
  if (typeof value !== "string" || value === "" || Number.isNaN(Date.parse(value))) return undefined;
  return new Date(value).toISOString();
}

/** The value of a `datetime-local` input: local time, to the minute. */
export function localMoment(iso: string | undefined): string {
  if (iso === undefined) return "";
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Commonly searched periods; days are in the browser's time zone. */
export const PERIODS = { hour: "The last hour", today: "Today", yesterday: "Yesterday", week: "The last 7 days" } as const;
export type SearchPeriod = keyof typeof PERIODS;

/** Start and end of a period as ISO 8601 timestamps; an open period has an empty end. */
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
