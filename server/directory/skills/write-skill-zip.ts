import type { Zippable } from "fflate";
import type { SkillFile } from "./skill-file.ts";

const UNIX = 3;
const REGULAR = 0o100000;

/**
 * Writes files as a ZIP that is byte-identical whenever and wherever it is made. Nothing is compressed, because
 * compressing the largest skill would block other calls for over a second. `folder`: the folder to put them in; null for
 * the root.
 */
export async function writeSkillZip(files: readonly SkillFile[], folder: string | null): Promise<Uint8Array> {
  // Loaded lazily: its tables cost 15 ms at start, and few gateways write a ZIP.
  const { zipSync } = await import("fflate");
  // The earliest time a ZIP can represent. ZIP times are local, so a local time gives the same bytes everywhere.
  const mtime = new Date(1980, 0, 1);
  const entries: Zippable = {};
  for (const { path, content, executable } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1)))
    entries[folder === null ? path : `${folder}/${path}`] = [
      content,
      { mtime, os: UNIX, attrs: ((REGULAR | (executable ? 0o755 : 0o644)) << 16) >>> 0, level: 0 },
    ];
  return zipSync(entries);
}
