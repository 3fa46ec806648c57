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

/** A position in the journal: segment numbers count from 1, offsets are in bytes. */
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
  /** Creates a private file; fails if it exists. */
  create(path: string): number;
  /** Returns the bytes written, which may be fewer than given. */
  write(fd: number, bytes: Buffer): number;
  sync(fd: number, done: (error: Error | null) => void): void;
  /** Like `sync`, but blocks. */
  syncNow(fd: number): void;
  openDirectory(path: string): number;
  /** Makes the creation of files in a directory durable. */
  syncDirectory(fd: number): void;
  close(fd: number): void;
  remove(path: string): void;
  /** Writes a file of incompressible bytes, replacing an existing one. */
  fill(path: string, bytes: number): void;
  /** Bytes available on the directory's disk; infinite if unknown. */
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
      // Open files can still be written to, and those writes will tell.
      return Number.POSITIVE_INFINITY;
    }
  },
};
