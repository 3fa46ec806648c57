import { readdirSync, readlinkSync } from "node:fs";

/** How many files below a path this process has open, those that were deleted meanwhile among them. */
export function openFilesBelow(path: string): number {
  return readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(path);
    } catch {
      return false;
    }
  }).length;
}
