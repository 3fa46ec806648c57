import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { scratchDirectory } from "../processes/scratch.ts";
import { median } from "./statistics.ts";

const RECORD = Buffer.alloc(3_072, "r");
const TIMES = 60;
/** About the pause between two calls of a single caller. A disk that has just synced syncs again in half the time. */
const REST_MS = 1;

/**
 * The unavoidable cost of a strict audit record for a single caller: appending and syncing 3 KB on the disk that holds the gateway's data.
 */
export async function diskSyncP50Ms(): Promise<number> {
  const file = openSync(join(scratchDirectory(), "sync-probe"), "a");
  const tookMs: number[] = [];
  try {
    while (tookMs.length < TIMES) {
      await Bun.sleep(REST_MS);
      const start = performance.now();
      writeSync(file, RECORD);
      fdatasyncSync(file);
      tookMs.push(performance.now() - start);
    }
    return median(tookMs);
  } finally {
    closeSync(file);
  }
}
