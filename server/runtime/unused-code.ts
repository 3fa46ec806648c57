import { readFileSync, readlinkSync } from "node:fs";
import { cLibrary } from "./c-library.ts";

/** The kernel's number for: unmap these pages until they are touched again. */
const MADV_DONTNEED = 4;
const EXECUTABLE = /^([\da-f]+)-([\da-f]+) r-xp /;

/** Where the machine code of this process's program is mapped; null if that cannot be told. */
function codeRange(): { readonly start: number; readonly bytes: number } | null {
  const program = readlinkSync("/proc/self/exe");
  const line = readFileSync("/proc/self/maps", "utf8")
    .split("\n")
    .find((one) => EXECUTABLE.test(one) && one.endsWith(` ${program}`));
  const [, from = "", to = ""] = EXECUTABLE.exec(line ?? "") ?? [];
  const start = Number.parseInt(from, 16);
  return Number.isNaN(start) ? null : { start, bytes: Number.parseInt(to, 16) - start };
}

/**
 * Gives back the memory of the runtime's machine code, half of which only a start runs. Code that runs again comes back from the system's
 * page cache, 64 KB at a time. Its pages are never written, so nothing is lost. Does nothing except on Linux.
 */
export function giveBackUnusedCode(): void {
  if (process.platform !== "linux") return;
  try {
    const code = codeRange();
    if (code === null) return;
    const library = cLibrary({ madvise: { args: ["u64", "u64", "i32"], returns: "i32" } });
    library?.symbols.madvise(code.start, code.bytes, MADV_DONTNEED);
  } catch {
    // A system without /proc keeps the pages.
  }
}
