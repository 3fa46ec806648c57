import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { scratchDirectory } from "../processes/scratch.ts";
import { median } from "./statistics.ts";

const RECORD = Buffer.alloc(3_072, "r");
const TIMES = 60;

/** What a strict audit record cannot avoid: appending 3 KB and syncing it, on the disk the gateway's data is on. */
export function diskSyncP50Ms(): number {
  const file = openSync(join(scratchDirectory(), "sync-probe"), "a");
  try {
    return median(
      Array.from({ length: TIMES }, () => {
        const start = performance.now();
        writeSync(file, RECORD);
        fdatasyncSync(file);
        return performance.now() - start;
      }),
    );
  } finally {
    closeSync(file);
  }
}
