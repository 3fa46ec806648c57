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
const MAX_WAIT_MS = 3_600_000;
/** Failed attempts in a row before a run fails; with the waits between them this takes about eight hours. */
const MAX_ATTEMPTS = 14;
/** For one list of a vendor. */
const MAX_PAGES = 10_000;
/** Restarts of one list whose cursor the vendor rejected. Each reads the list from its start, and some vendors charge per page. */
const MAX_RESTARTS = 5;
/** Runs per look, so that a stop does not have to wait for all of them. */
const AT_ONCE = 5;
/** A run's turn while others wait, so that a slow vendor or an endless list does not block the rest. */
const TURN_MS = 20_000;
/** Limits on reading a vendor's keys, none of which are stored until all are read. */
const KEYS_MS = 60_000;
const MAX_KEYS = 100_000;

interface ImportParts {
  readonly directory: Pick<Directory, "db" | "secrets" | "clock">;
  readonly vendors: UsageVendors;
  readonly log: Log;
}

/** Returns a function that imports vendors' usage and cost figures: starts due imports and continues unfinished ones. */
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
    // The provider was deleted, and its runs with it.
    if (error instanceof Refused) return;
    if (!(error instanceof UsageRefused)) parts.log.warn("usage_import_failed", { provider_id: run.provider_id, error: error as Error });
    const reportedError =
      error instanceof UsageRefused ? error : new UsageRefused("The gateway itself could not read on.", { passing: true });
    const longer = Math.min(FIRST_WAIT_MS * 2 ** run.attempts, MAX_WAIT_MS);
    // The vendor's Retry-After may be too short: after the first failed attempt, back off at least exponentially.
    const wait = run.attempts === 0 ? (reportedError.retryAfterMs ?? longer) : Math.max(reportedError.retryAfterMs ?? 0, longer);
    const again = reportedError.passing && run.attempts < MAX_ATTEMPTS;
    await stopRun(db, run, reportedError.message, again ? new Date(clock.now() + wait) : null, now());
  }
}

/** Null if the vendor does not give its keys: figures are imported all the same, and usage is matched by hand. */
async function keysOf(
  { directory: { db, clock } }: ImportParts,
  run: ImportRun,
  { vendor, access }: ImportAccess,
): Promise<VendorKey[] | null> {
  const ends = clock.now() + KEYS_MS;
  const renewLease = async (found: number) => {
    if (clock.now() >= ends || found > MAX_KEYS) throw new UsageRefused("The vendor's list of keys has no end.", { passing: false });
    await keepRun(db, run, new Date(clock.now()));
  };
  try {
    return (await vendor.keys?.(access, renewLease)) ?? null;
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

/** True if everything is read; false if the run's turn is over. */
async function readOn(
  { directory: { db, clock } }: ImportParts,
  run: ImportRun,
  { vendor, access, lagMs }: ImportAccess,
): Promise<boolean> {
  const turnEnds = clock.now() + TURN_MS;
  const today = new Date(Date.parse(run.to_day) - DAY_MS);
  // Figures that may have been revised are read again, however far the import had come.
  const from = new Date(Math.min(Date.parse(run.from_day), startOfDay(vendor.rereadFrom(today)).getTime()));
  const windows = windowsOf(run, from, vendor.windowDays);
  let { window: at = 0, source: of = 0, cursor = null, pages = 0, restarts = 0 } = run.checkpoint;
  while (at < windows.length) {
    if (clock.now() >= turnEnds) return false;
    if (++pages > MAX_PAGES) throw new UsageRefused("The vendor's list has no end.", { passing: false });
    const window = windows[at] as UsageWindow;
    const source = vendor.sources[of] as string;
    const requestedCursor = cursor;
    let page;
    try {
      page = await vendor.page(access, source, window, requestedCursor);
    } catch (error) {
      // The vendor rejects the cursor: the window is read from its start again, and figures already stored are not duplicated.
      const refused = error instanceof UsageRefused && requestedCursor !== null && [400, 404, 410, 422].includes(error.status ?? 0);
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
