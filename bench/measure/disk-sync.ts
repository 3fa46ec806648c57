import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { scratchDirectory } from "../processes/scratch.ts";
import { median } from "./statistics.ts";

const RECORD = Buffer.alloc(3_072, "r");
const TIMES = 60;
/** About what a lone caller leaves between two calls. A disk that has just synced syncs again in half the time. */
const REST_MS = 1;

/** What a strict audit record of a lone caller cannot avoid: appending 3 KB and syncing it, on the disk the gateway's data is on. */
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
