import { randomFillSync } from "node:crypto";
import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readdirSync,
  statfsSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

/** A place in the journal: segments count up from 1 and their offsets are bytes. */
export interface Position {
  readonly segment: number;
  readonly offset: number;
}

export function isBefore(a: Position, b: Position): boolean {
  return a.segment < b.segment || (a.segment === b.segment && a.offset < b.offset);
}

export interface Segment {
  readonly number: number;
  readonly size: number;
}

const NAME = /^journal-(\d{10})\.log$/;

export function segmentPath(directory: string, number: number): string {
  return join(directory, `journal-${String(number).padStart(10, "0")}.log`);
}

/** In the order they were written. */
export function listSegments(directory: string): Segment[] {
  return readdirSync(directory)
    .map((name) => NAME.exec(name))
    .filter((match) => match !== null)
    .map((match) => ({ number: Number(match[1]), size: statSync(join(directory, match[0])).size }))
    .sort((a, b) => a.number - b.number);
}

/** The file system operations of the journal, so that tests can simulate a full or failing disk. */
export interface JournalFiles {
  /** A new file that nobody else may read; fails when it exists. */
  create(path: string): number;
  /** Bytes written, which may be fewer than given. */
  write(fd: number, bytes: Buffer): number;
  sync(fd: number, done: (error: Error | null) => void): void;
  /** The same, and nothing else happens meanwhile. */
  syncNow(fd: number): void;
  openDirectory(path: string): number;
  /** Makes the creation of files in a directory durable. */
  syncDirectory(fd: number): void;
  close(fd: number): void;
  remove(path: string): void;
  /** Writes a file of so many bytes that no file system makes fewer of, over one that is there. */
  fill(path: string, bytes: number): void;
  /** Bytes that may still be written on the disk a directory is on; infinite on one that does not say. */
  free(directory: string): number;
}

export const journalFiles: JournalFiles = {
  create: (path) => openSync(path, "ax", 0o600),
  write: (fd, bytes) => writeSync(fd, bytes),
  sync: (fd, done) => fdatasync(fd, done),
  syncNow: fdatasyncSync,
  openDirectory: (path) => openSync(path, "r"),
  syncDirectory: fsyncSync,
  close: closeSync,
  remove: unlinkSync,
  fill: (path, bytes) => writeFileSync(path, randomFillSync(Buffer.allocUnsafe(bytes)), { mode: 0o600 }),
  free(directory) {
    try {
      const { blocks, bavail, bsize } = statfsSync(directory);
      return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
    } catch {
      // What is open can be written to all the same, and that finds out.
      return Number.POSITIVE_INFINITY;
    }
  },
};
