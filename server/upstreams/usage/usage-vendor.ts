/** What an importer needs to ask one account of a vendor. */
export interface UsageAccess {
  /** Without a slash at the end. */
  readonly endpoint: string;
  readonly apiKey: string;
  /** The table, scope or the like that is read, where the vendor has several. */
  readonly account: string | null;
}

/** Midnights in UTC; `to` is exclusive. */
export interface UsageWindow {
  readonly from: Date;
  readonly to: Date;
}

/** One figure of the vendor, of one bucket and one combination of its dimensions. */
export interface UsageItem {
  readonly start: Date;
  readonly seconds: number;
  /** What the vendor grouped by, as it wrote it: what makes the figure the same when it is read again. */
  readonly dimensions: Readonly<Record<string, string | null>>;
  readonly model: string | null;
  readonly key: string | null;
  readonly project: string | null;
  readonly requests: number | null;
  /** All input, what a cache gave or took included. */
  readonly input: number | null;
  readonly cached: number | null;
  readonly output: number | null;
  readonly costNano: bigint | null;
  readonly currency: string | null;
  /** The vendor itself says that it may change. */
  readonly estimated: boolean;
}

export interface VendorPage {
  readonly items: readonly UsageItem[];
  /** Null on the last page. */
  readonly next: string | null;
}

/** A key of the vendor's, by what it shows of it. */
export interface VendorKey {
  readonly id: string;
  readonly name: string | null;
  readonly project: string | null;
  /** The last characters. */
  readonly hint: string;
}

export type UsageSplit = "key" | "project" | "resource" | "account";

export interface UsageVendor {
  readonly endpoint: string;
  readonly split: UsageSplit;
  /** Asked one after the other of each window. */
  readonly sources: readonly string[];
  /** Longest window that one question may be about, in days. */
  readonly windowDays: number;
  /** The first day whose figures may still change. */
  readonly rereadFrom: (today: Date) => Date;
  /** Throws a `UsageRefused` for what the vendor did, or what the network failed with. */
  page(access: UsageAccess, source: string, window: UsageWindow, cursor: string | null): Promise<VendorPage>;
  /**
   * `goesOn` hears before each question how many keys are found, and ends the list by what it throws. Null where the vendor
   * tells of no keys.
   */
  readonly keys: ((access: UsageAccess, goesOn: (found: number) => Promise<void>) => Promise<VendorKey[]>) | null;
}

export const DAY_SECONDS = 86_400;
export const DAY_MS = DAY_SECONDS * 1000;

export const daysBefore = (days: number) => (today: Date) => new Date(today.getTime() - days * DAY_MS);

/** This and the month before, which invoices are still made of. */
export const monthBefore = (today: Date) => new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - 1, 1));

/** The vendor answered, and not with figures. */
export class UsageRefused extends Error {
  /** Whether the same question may be answered later. */
  readonly passing: boolean;
  /** How long the vendor asked to be left alone; null where it did not say. */
  readonly retryAfterMs: number | null;
  readonly status: number | null;

  constructor(message: string, told: { passing: boolean; status?: number; retryAfterMs?: number | null }) {
    super(message);
    this.passing = told.passing;
    this.status = told.status ?? null;
    this.retryAfterMs = told.retryAfterMs ?? null;
  }
}
