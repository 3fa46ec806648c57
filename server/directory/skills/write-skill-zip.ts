import { zipSync, type Zippable } from "fflate";
import type { SkillFile } from "./skill-file.ts";

// The first moment a ZIP can name, in the machine's own zone as the format has it: the same bytes everywhere.
const MOMENT = new Date(1980, 0, 1);
const UNIX = 3;
const REGULAR = 0o100000;

/**
 * The same files as a ZIP, the same bytes whenever and wherever it is made. Nothing is compressed: to pack the largest skill
 * would hold up every other call for more than a second.
 * `folder`: what they stand in; at the root without.
 */
export function writeSkillZip(files: readonly SkillFile[], folder: string | null): Uint8Array {
  const entries: Zippable = {};
  for (const { path, content, executable } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1)))
    entries[folder === null ? path : `${folder}/${path}`] = [
      content,
      { mtime: MOMENT, os: UNIX, attrs: ((REGULAR | (executable ? 0o755 : 0o644)) << 16) >>> 0, level: 0 },
    ];
  return zipSync(entries);
}
