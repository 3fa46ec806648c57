/** Access to one account of a vendor. */
export interface UsageAccess {
  /** Without a trailing slash. */
  readonly endpoint: string;
  readonly apiKey: string;
  /** The table, scope or similar to read, for vendors that have several; else null. */
  readonly account: string | null;
}

/** Midnights in UTC; `to` is exclusive. */
export interface UsageWindow {
  readonly from: Date;
  readonly to: Date;
}

/** One figure of the vendor, for one time bucket and one combination of dimensions. */
export interface UsageItem {
  readonly start: Date;
  readonly seconds: number;
  /** The vendor's grouping values, unchanged; they identify the figure when it is read again. */
  readonly dimensions: Readonly<Record<string, string | null>>;
  readonly model: string | null;
  readonly key: string | null;
  readonly project: string | null;
  readonly requests: number | null;
  /** All input, including cache reads and writes. */
  readonly input: number | null;
  readonly cached: number | null;
  readonly output: number | null;
  readonly costNano: bigint | null;
  readonly currency: string | null;
  /** Whether the vendor says that it may change. */
  readonly estimated: boolean;
}

export interface VendorPage {
  readonly items: readonly UsageItem[];
  /** Cursor of the next page; null on the last page. */
  readonly next: string | null;
}

/** A vendor's API key, as far as the vendor shows it. */
export interface VendorKey {
  readonly id: string;
  readonly name: string | null;
  readonly project: string | null;
  /** The last four characters. */
  readonly hint: string;
}

export type UsageSplit = "key" | "project" | "resource" | "account";

export interface UsageVendor {
  readonly endpoint: string;
  readonly split: UsageSplit;
  /** Read one after another for each window. */
  readonly sources: readonly string[];
  /** Longest window of one request, in days. */
  readonly windowDays: number;
  /** The first day whose figures may still change. */
  readonly rereadFrom: (today: Date) => Date;
  /** Throws a `UsageRefused` for errors of the vendor or the network. */
  page(access: UsageAccess, source: string, window: UsageWindow, cursor: string | null): Promise<VendorPage>;
  /**
   * Lists the account's keys; null if the vendor does not list any. `goesOn` is called before each request with the number of keys found,
   * and ends the list by throwing.
   */
  readonly keys: ((access: UsageAccess, goesOn: (found: number) => Promise<void>) => Promise<VendorKey[]>) | null;
}

export const DAY_SECONDS = 86_400;
export const DAY_MS = DAY_SECONDS * 1000;

export const daysBefore = (days: number) => (today: Date) => new Date(today.getTime() - days * DAY_MS);

/** The first day of the previous month: its invoice may still change. */
export const monthBefore = (today: Date) => new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - 1, 1));

/** The vendor did not give figures. */
export class UsageRefused extends Error {
  /** Whether the same request may succeed later. */
  readonly passing: boolean;
  /** The vendor's Retry-After, milliseconds; null if it gave none. */
  readonly retryAfterMs: number | null;
  readonly status: number | null;

  constructor(message: string, facts: { passing: boolean; status?: number; retryAfterMs?: number | null }) {
    super(message);
    this.passing = facts.passing;
    this.status = facts.status ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}
