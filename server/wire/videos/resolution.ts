import { ownEntry } from "../../kernel/collections/own-entry.ts";

const NAMED: Readonly<Record<string, number>> = { "2k": 1440, "4k": 2160, "8k": 4320, sd: 480, hd: 720, fhd: 1080, uhd: 2160 };
const SIZE = /^([1-9]\d{1,4})x([1-9]\d{1,4})$/;

export interface FrameSize {
  readonly width: number;
  readonly height: number;
}

/** The width and height in a resolution such as `1280x720`; null if it does not have both. */
export function frameSizeOf(token: string): FrameSize | null {
  const [, width, height] = SIZE.exec(token.trim().toLowerCase()) ?? [];
  return width === undefined || height === undefined ? null : { width: Number(width), height: Number(height) };
}

/** The shorter side in pixels, by which vendors name resolutions; null if unknown. */
export function linesOf(token: string): number | null {
  const text = token.trim().toLowerCase();
  const size = frameSizeOf(text);
  if (size !== null) return Math.min(size.width, size.height);
  const lines = /^(\d{3,4})p?$/.exec(text)?.[1];
  return lines === undefined ? (ownEntry(NAMED, text) ?? null) : Number(lines);
}

/** Whether two resolutions (`720p`, `1280x720`, `4k`) are equivalent. Two sizes must be identical. */
export function isSameResolution(one: string, other: string): boolean {
  if (one.trim().toLowerCase() === other.trim().toLowerCase()) return true;
  if (frameSizeOf(one) !== null && frameSizeOf(other) !== null) return false;
  const lines = linesOf(one);
  return lines !== null && lines === linesOf(other);
}

/** The size of a resolution in an aspect ratio, with even sides; null if unknown. */
export function videoFrameOf(token: string, aspect: string | null): FrameSize | null {
  const size = frameSizeOf(token);
  if (size !== null) return size;
  const lines = linesOf(token);
  if (lines === null) return null;
  const [, across = "16", down = "9"] = /^(\d{1,2}):(\d{1,2})$/.exec(aspect ?? "16:9") ?? [];
  const [a, d] = [Number(across), Number(down)];
  const long = 2 * Math.round((lines * Math.max(a, d)) / Math.min(a, d) / 2);
  return a >= d ? { width: long, height: lines } : { width: lines, height: long };
}

/** The closest common aspect ratio, such as `16:9`. */
export function aspectOf({ width, height }: FrameSize): string {
  const ratio = width / height;
  const known = [16 / 9, 9 / 16, 1, 4 / 3, 3 / 4];
  const names = ["16:9", "9:16", "1:1", "4:3", "3:4"];
  const distance = (at: number) => Math.abs((known[at] as number) - ratio);
  return names[known.map((_, at) => at).reduce((best, at) => (distance(at) < distance(best) ? at : best), 0)] as string;
}
