import { queueDueImports } from "../../directory/usage-import/import-runs.ts";
import { finishRun, pauseRun, stopRun } from "../../directory/usage-import/finish-import-run.ts";
import { type ImportRun, keepRun, LeaseLost, takeRun, takeImportStep } from "../../directory/usage-import/import-progress.ts";
import type { Directory } from "../../directory/writes/write.ts";
import { Refused } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import type { Log } from "../../kernel/log.ts";
import { DAY_MS, UsageRefused, type UsageWindow, type VendorKey } from "../../upstreams/usage/usage-vendor.ts";
import { figuresOfUsage } from "./figures-of-usage.ts";
import { type ImportAccess, importAccess } from "./import-access.ts";
import type { UsageVendors } from "./usage-vendors.ts";

const FIRST_WAIT_MS = 15_000;
const LONGEST_WAIT_MS = 3_600_000;
/** Attempts in a row that brought nothing, with the waits between them some eight hours. */
const MAX_ATTEMPTS = 14;
/** Of one list of a vendor. */
const MAX_PAGES = 10_000;
/** Of one list, whose places the vendor no longer knew. Each reads it again from its beginning, and some vendors charge for each page. */
const MAX_RESTARTS = 5;
/** Runs that one look carries on, so that a stop has not to wait for all. */
const AT_ONCE = 5;
/** How long a run is carried on while others wait: one vendor that is slow, or whose lists do not end, holds up nobody for good. */
const TURN_MS = 20_000;
/** How long a vendor is asked for its keys, of which nothing is kept until all are told, and how many it may tell of. */
const KEYS_MS = 60_000;
const MOST_KEYS = 100_000;

interface ImportParts {
  readonly directory: Pick<Directory, "db" | "secrets" | "clock">;
  readonly vendors: UsageVendors;
  readonly log: Log;
}

/** Reads on what vendors tell of use and cost: what is due, and what was left in the middle. */
export function importUsage(parts: ImportParts): () => Promise<void> {
  const { db, clock } = parts.directory;
  return async () => {
    await queueDueImports(db, new Date(clock.now()));
    for (let taken = 0; taken < AT_ONCE; taken++) {
      const run = await takeRun(db, uuid(), new Date(clock.now()));
      if (run === undefined) return;
      await carryOn(parts, run);
    }
  };
}

async function carryOn(parts: ImportParts, run: ImportRun): Promise<void> {
  const { db, clock } = parts.directory;
  const now = () => new Date(clock.now());
  try {
    const found = await importAccess(parts.directory, parts.vendors, run.tenant_id, run.provider_id);
    if (typeof found === "string") return await stopRun(db, run, found, null, now());
    if (!(await readOn(parts, run, found))) return await pauseRun(db, run, now());
    const keys = await keysOf(parts, run, found);
    const { name, import_mapping_policy: policy } = found.provider;
    const completeBefore = clock.now() - found.lagMs;
    await finishRun(db, run, { providerName: name, keys, register: policy.mode === "auto_create", completeBefore }, now());
  } catch (error) {
    if (error instanceof LeaseLost) return;
    // The provider is gone, and its runs with it.
    if (error instanceof Refused) return;
    if (!(error instanceof UsageRefused)) parts.log.warn("usage_import_failed", { provider_id: run.provider_id, error: error as Error });
    const told = error instanceof UsageRefused ? error : new UsageRefused("The gateway itself could not read on.", { passing: true });
    const longer = Math.min(FIRST_WAIT_MS * 2 ** run.attempts, LONGEST_WAIT_MS);
    // A vendor may name a time at which it still refuses: after one attempt for nothing its word alone is not enough.
    const wait = run.attempts === 0 ? (told.retryAfterMs ?? longer) : Math.max(told.retryAfterMs ?? 0, longer);
    const again = told.passing && run.attempts < MAX_ATTEMPTS;
    await stopRun(db, run, told.message, again ? new Date(clock.now() + wait) : null, now());
  }
}

/** What the vendor will not tell of keys costs no figures: its use is then matched by hand. */
async function keysOf(
  { directory: { db, clock } }: ImportParts,
  run: ImportRun,
  { vendor, access }: ImportAccess,
): Promise<VendorKey[] | null> {
  const ends = clock.now() + KEYS_MS;
  const goesOn = async (found: number) => {
    if (clock.now() >= ends || found > MOST_KEYS) throw new UsageRefused("The vendor's list of keys has no end.", { passing: false });
    await keepRun(db, run, new Date(clock.now()));
  };
  try {
    return (await vendor.keys?.(access, goesOn)) ?? null;
  } catch (error) {
    if (error instanceof UsageRefused && !error.passing) return null;
    throw error;
  }
}

function windowsOf(run: ImportRun, from: Date, days: number): UsageWindow[] {
  const end = Date.parse(run.to_day);
  const windows: UsageWindow[] = [];
  for (let at = from.getTime(); at < end; at += days * DAY_MS)
    windows.push({ from: new Date(at), to: new Date(Math.min(at + days * DAY_MS, end)) });
  return windows;
}

/** Answers whether everything is read; false when the turn of the run is over. */
async function readOn(
  { directory: { db, clock } }: ImportParts,
  run: ImportRun,
  { vendor, access, lagMs }: ImportAccess,
): Promise<boolean> {
  const turnEnds = clock.now() + TURN_MS;
  const today = new Date(Date.parse(run.to_day) - DAY_MS);
  // What may have been revised is read again, however far everything was read before.
  const from = new Date(Math.min(Date.parse(run.from_day), startOfDay(vendor.rereadFrom(today)).getTime()));
  const windows = windowsOf(run, from, vendor.windowDays);
  let { window: at = 0, source: of = 0, cursor = null, pages = 0, restarts = 0 } = run.checkpoint;
  while (at < windows.length) {
    if (clock.now() >= turnEnds) return false;
    if (++pages > MAX_PAGES) throw new UsageRefused("The vendor's list has no end.", { passing: false });
    const window = windows[at] as UsageWindow;
    const source = vendor.sources[of] as string;
    const asked = cursor;
    let page;
    try {
      page = await vendor.page(access, source, window, asked);
    } catch (error) {
      // A place in a list that the vendor no longer knows: its window is read from its beginning, and what is there stays once.
      const refused = error instanceof UsageRefused && asked !== null && [400, 404, 410, 422].includes(error.status ?? 0);
      if (!refused || ++restarts > MAX_RESTARTS) throw error;
      cursor = null;
      await takeImportStep(
        db,
        run,
        { source, figures: [], checkpoint: { window: at, source: of, cursor, pages, restarts }, completed: null, readThrough: null },
        new Date(clock.now()),
      );
      continue;
    }
    const last = page.next === null;
    if (!last) cursor = page.next;
    else {
      cursor = null;
      pages = 0;
      restarts = 0;
      of = (of + 1) % vendor.sources.length;
      if (of === 0) at += 1;
    }
    const whole = last && of === 0;
    const readThrough = whole ? new Date(Math.min(window.to.getTime(), today.getTime())).toISOString().slice(0, 10) : null;
    const figures = figuresOfUsage(page.items, window, clock.now() - lagMs);
    const step = {
      source,
      figures,
      checkpoint: { window: at, source: of, cursor, pages, restarts },
      completed: last ? window : null,
      readThrough,
    };
    await takeImportStep(db, run, step, new Date(clock.now()));
  }
  return true;
}

const startOfDay = (at: Date) => new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS);
