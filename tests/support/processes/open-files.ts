import { readdirSync, readlinkSync } from "node:fs";

/** Number of files below a path that this process has open, including deleted ones. */
export function openFilesBelow(path: string): number {
  return readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(path);
    } catch {
      return false;
    }
  }).length;
}
