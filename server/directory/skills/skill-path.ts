import { isStorableText } from "../../kernel/text/storable.ts";
import { InvalidSkill, MAX_SKILL_BYTES, MAX_SKILL_FILES, type SkillFault, type SkillFile } from "./skill-file.ts";

const MAX_PATH_BYTES = 255;
const MAX_DEPTH = 16;
// Characters that Windows forbids in names, and control characters that disguise a name.
const UNFIT = /[\p{Cc}\p{Cf}\\:*?"<>|]/u;
// Windows strips trailing dots and spaces, so such files would overwrite others, and it reserves device names with any
// extension.
const CUT_OFF = /[. ]$/;
const DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])[ ]*(?:\.|$)/i;

/** Why a path is not allowed in a skill; null if it is. */
export function pathFault(path: string): string | null {
  if (path === "") return "has no name";
  if (!isStorableText(path)) return "has a name that is no text";
  if (path.startsWith("/")) return "is an absolute path";
  if (UNFIT.test(path)) return 'has a name with a backslash, a control character or one of : * ? " < > |';
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `has a path of more than ${MAX_PATH_BYTES} bytes`;
  const parts = path.split("/");
  if (parts.length > MAX_DEPTH) return `is more than ${MAX_DEPTH} folders deep`;
  if (parts.some((part) => part === "" || part === "." || part === "..")) return "has an empty part, a . or a .. in its path";
  if (parts.some((part) => CUT_OFF.test(part))) return "has a name that ends with a dot or a space";
  if (parts.some((part) => DEVICE.test(part))) return "has a name that is a device on Windows";
  return null;
}

/** Names that are identical on file systems that ignore case or normalize accents. */
const folded = (path: string) => path.normalize("NFC").toLowerCase();

/** Throws `InvalidSkill` if the files could not all be unpacked on every system, or are too many or too large. */
export function checkFiles(files: readonly SkillFile[]): void {
  if (files.length > MAX_SKILL_FILES) throw new InvalidSkill([{ field: "file", message: `has more than ${MAX_SKILL_FILES} files` }]);
  const faults: SkillFault[] = [];
  const names = new Map<string, string>();
  let bytes = 0;
  for (const { path, content } of files) {
    const fault = pathFault(path);
    if (fault !== null) faults.push({ field: JSON.stringify(path.toWellFormed().replaceAll("\0", "")), message: fault });
    const sameFolded = names.get(folded(path));
    if (sameFolded !== undefined)
      faults.push({ field: path, message: sameFolded === path ? "is there twice" : `differs from ${sameFolded} by case or accents only` });
    names.set(folded(path), path);
    bytes += content.byteLength;
  }
  for (const [name, path] of names) {
    const folders = name.split("/").slice(0, -1);
    const file = folders.map((_, depth) => names.get(folders.slice(0, depth + 1).join("/"))).find((one) => one !== undefined);
    if (file !== undefined) faults.push({ field: path, message: `is in ${file}, which is a file` });
  }
  if (bytes > MAX_SKILL_BYTES) faults.push({ field: "file", message: `holds more than ${MAX_SKILL_BYTES / 1024 / 1024} MiB` });
  if (faults.length > 0) throw new InvalidSkill(faults);
}
