import type { StrippedPicture } from "./bare-picture.ts";

const HEADER_BYTES = 13;
const IMAGE = 0x2c;
const EXTENSION = 0x21;
const TRAILER = 0x3b;
const GRAPHIC_CONTROL = 0xf9;
const APPLICATION = 0xff;
/** Application blocks with the loop count; those of other applications hold editors' data. */
const LOOPS = new Set(["NETSCAPE2.0", "ANIMEXTS1.0"]);

/** Size in bytes of the colour table described by the flags. */
const tableBytes = (flags: number) => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1));

/** The offset after the sub-blocks that begin at `at`; null if the file is truncated. */
function afterBlocks(file: Buffer, at: number): number | null {
  for (let here = at; here < file.length;) {
    const length = file[here] as number;
    here += 1 + length;
    if (length === 0) return here;
  }
  return null;
}

/** Keeps only the frames and their timing, up to the trailer. Null if the file is damaged. */
export function strippedGif(file: Buffer): StrippedPicture | null {
  if (file.length < HEADER_BYTES) return null;
  let at = HEADER_BYTES + tableBytes(file[10] as number);
  const kept = [file.subarray(0, at)];
  let drawn = false;
  while (at < file.length) {
    const kind = file[at];
    if (kind === TRAILER) {
      if (!drawn) return null;
      kept.push(file.subarray(at, at + 1));
      return { content: Buffer.concat(kept), width: file.readUInt16LE(6), height: file.readUInt16LE(8) };
    }
    if (kind === IMAGE) {
      if (at + 10 > file.length) return null;
      // The descriptor and its colour table are followed by the code size of the compressed frame.
      const end = afterBlocks(file, at + 10 + tableBytes(file[at + 9] as number) + 1);
      if (end === null) return null;
      kept.push(file.subarray(at, end));
      drawn = true;
      at = end;
    } else if (kind === EXTENSION) {
      const label = file[at + 1];
      const end = afterBlocks(file, at + 2);
      if (end === null) return null;
      const loop = label === APPLICATION && file[at + 2] === 11 && LOOPS.has(file.toString("latin1", at + 3, at + 14)) && end - at === 19;
      if (loop || (label === GRAPHIC_CONTROL && end - at === 8)) kept.push(file.subarray(at, end));
      at = end;
    } else return null;
  }
  return null;
}
