import { crc32 } from "node:zlib";
import type { Entry, ZipFile } from "yauzl";
import { openZip, TooManyZipEntries } from "../../kernel/files/zip-archive.ts";
import { InvalidSkill, MAX_SKILL_BYTES, MAX_SKILL_FILES, type SkillFile } from "./skill-file.ts";

// Includes folders, which archives list in addition to files.
const MAX_ENTRIES = MAX_SKILL_FILES * 2;
const MAX_RATIO = 200;
const RATIO_FROM_BYTES = 256 * 1024;
const FILE_TYPE = 0o170000;
const REGULAR = 0o100000;
const FOLDER = 0o040000;

/** The files of a ZIP, checked against all limits before anything is decompressed. Throws `InvalidSkill`. */
export async function readSkillZip(archive: Uint8Array): Promise<SkillFile[]> {
  try {
    const { zip, entries: listed } = await openZip(archive, { mostEntries: MAX_ENTRIES, strictFileNames: true });
    const entries = listed.filter((entry) => isFile(entry));
    if (entries.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0) > MAX_SKILL_BYTES)
      throw unfit("file", `holds more than ${MAX_SKILL_BYTES / 1024 / 1024} MiB`);
    const files: SkillFile[] = [];
    for (const entry of entries) files.push(await unpacked(zip, entry));
    return files;
  } catch (error) {
    if (error instanceof InvalidSkill) throw error;
    if (error instanceof TooManyZipEntries) throw unfit("file", `has more than ${MAX_SKILL_FILES} files`);
    throw unfit("file", `is no ZIP that can be read: ${(error as Error).message.toWellFormed().replaceAll("\0", "").slice(0, 300)}`);
  }
}

const unfit = (field: string, message: string) => new InvalidSkill([{ field, message }]);

const modeOf = (entry: Entry) => entry.externalFileAttributes >>> 16;

/** False for a folder; throws for anything that is neither file nor folder. */
function isFile(entry: Entry): boolean {
  const name = entry.fileName;
  const type = modeOf(entry) & FILE_TYPE;
  if (name.endsWith("/") || type === FOLDER) {
    if (entry.uncompressedSize > 0) throw unfit(name, "is a folder that has content");
    return false;
  }
  if (type !== 0 && type !== REGULAR) throw unfit(name, "is a link or a device: only files and folders are taken");
  if (entry.isEncrypted()) throw unfit(name, "is encrypted");
  if (entry.uncompressedSize > RATIO_FROM_BYTES && entry.uncompressedSize > entry.compressedSize * MAX_RATIO)
    throw unfit(name, `unpacks to more than ${MAX_RATIO} times its size`);
  return true;
}

function unpacked(zip: ZipFile, entry: Entry): Promise<SkillFile> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => {
      if (error !== null) return reject(error);
      const pieces: Buffer[] = [];
      stream.on("error", reject);
      stream.on("data", (piece: Buffer) => pieces.push(piece));
      stream.on("end", () => {
        const content = new Uint8Array(Buffer.concat(pieces));
        if (crc32(content) >>> 0 !== entry.crc32 >>> 0) return reject(unfit(entry.fileName, "is damaged: its checksum is another"));
        resolve({ path: entry.fileName, content, executable: (modeOf(entry) & 0o111) !== 0 });
      });
    });
  });
}
