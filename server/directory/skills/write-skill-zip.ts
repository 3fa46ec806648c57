import type { Zippable } from "fflate";
import type { SkillFile } from "./skill-file.ts";

const UNIX = 3;
const REGULAR = 0o100000;

/**
 * The same files as a ZIP, the same bytes whenever and wherever it is made. Nothing is compressed: to pack the largest skill
 * would hold up every other call for more than a second.
 * `folder`: what they stand in; at the root without.
 */
export async function writeSkillZip(files: readonly SkillFile[], folder: string | null): Promise<Uint8Array> {
  // Its tables take a start fifteen milliseconds, and few gateways write a ZIP.
  const { zipSync } = await import("fflate");
  // The first moment a ZIP can name, in the machine's own zone as the format has it: the same bytes everywhere.
  const mtime = new Date(1980, 0, 1);
  const entries: Zippable = {};
  for (const { path, content, executable } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1)))
    entries[folder === null ? path : `${folder}/${path}`] = [
      content,
      { mtime, os: UNIX, attrs: ((REGULAR | (executable ? 0o755 : 0o644)) << 16) >>> 0, level: 0 },
    ];
  return zipSync(entries);
}
