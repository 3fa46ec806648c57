const locale = () => document.documentElement.lang || "en";

/** Formatters per language; creating one takes as long as rendering a table row. */
const made = new Map<string, unknown>();
function formatter<Kind>(name: string, make: (language: string) => Kind): Kind {
  const key = `${locale()} ${name}`;
  let known = made.get(key) as Kind | undefined;
  if (known === undefined) made.set(key, (known = make(locale())));
  return known;
}

export function formatDate(iso: string): string {
  return formatter("date", (language) => new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" })).format(
    new Date(iso),
  );
}

const IN_ZONE = { year: "numeric", month: "short", day: "numeric", hour: "numeric", minute: "2-digit", timeZoneName: "short" } as const;

/** To the minute, with its time zone. */
export function formatDateInZone(iso: string): string {
  return formatter("date in zone", (language) => new Intl.DateTimeFormat(language, IN_ZONE)).format(new Date(iso));
}

/** To the second with its time zone, for entries that must be found again. */
export function formatMoment(iso: string): string {
  return formatter("moment", (language) => new Intl.DateTimeFormat(language, { ...IN_ZONE, second: "2-digit" })).format(new Date(iso));
}

/** Relative time, such as "3 minutes ago". */
export function formatRelative(iso: string, now = Date.now()): string {
  const seconds = (new Date(iso).getTime() - now) / 1000;
  const format = formatter("relative", (language) => new Intl.RelativeTimeFormat(language, { numeric: "auto" }));
  for (const [unit, size] of [
    ["day", 86_400],
    ["hour", 3_600],
    ["minute", 60],
  ] as const)
    if (Math.abs(seconds) >= size) return format.format(Math.round(seconds / size), unit);
  return format.format(Math.round(seconds), "second");
}

export function formatNumber(value: number): string {
  return formatter("number", (language) => new Intl.NumberFormat(language)).format(value);
}

/** A unit price with all its decimals, never with an exponent. */
export function formatPrice(value: number): string {
  const options = { style: "currency", currency: "USD", minimumFractionDigits: 2, maximumFractionDigits: 12 } as const;
  return formatter("price", (language) => new Intl.NumberFormat(language, options)).format(value);
}

/** Dollars as a plain decimal, with more decimals for small amounts; never with an exponent. */
export function formatUsd(value: number): string {
  const digits = Math.abs(value) >= 1 || value === 0 ? 2 : 6;
  const options = { style: "currency", currency: "USD", minimumFractionDigits: 2, maximumFractionDigits: digits } as const;
  return formatter(`usd ${digits}`, (language) => new Intl.NumberFormat(language, options)).format(value);
}
