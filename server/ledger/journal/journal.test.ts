import { expect, spyOn, test } from "bun:test";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { JournalFailed, type Journal, type JournalOptions } from "./journal.ts";
import { openJournal } from "./open-journal.ts";
import { readRecord } from "./record.ts";
import { lineId } from "../row-line.ts";
import { journalFiles, listSegments, segmentPath, type JournalFiles } from "./segments.ts";
import { recordedLog, temporaryDirectory } from "../test-support.ts";

function open(options: Partial<JournalOptions> = {}): { journal: Journal; directory: string } {
  const directory = options.directory ?? temporaryDirectory();
  const journal = openJournal({
    directory,
    files: journalFiles,
    log: recordedLog(),
    maxBytes: 1_000_000,
    segmentBytes: 1_000_000,
    existing: [],
    number: 1,
    header: () => "{}",
    ...options,
  });
  return { journal, directory };
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
const line = (id: string, filler = 0): string => `${id}	${"x".repeat(filler)}`;

function recordsOf(directory: string, number: number): string[] {
  const bytes = readFileSync(segmentPath(directory, number));
  const found: string[] = [];
  for (let offset = 0; offset < bytes.length;) {
    const record = readRecord(bytes, offset);
    if (record === null || record === "damaged") throw new Error("the segment is damaged");
    found.push(record.type === "H" ? "H" : `${record.type}:${lineId(record.payload)}`);
    offset = record.end;
  }
  return found;
}

test("a begin marker is written at once, readable by the owner only; rows are written with the next write", async () => {
  const { journal, directory } = open();
  journal.begin("a", line("a"));
  expect(recordsOf(directory, 1)).toEqual(["H", "B:a"]);
  journal.begin("b", line("b"));
  journal.seal("a", line("a"));
  journal.begin("c", line("c"));
  expect(recordsOf(directory, 1)).toEqual(["H", "B:a", "B:b", "R:a", "B:c"]);
  journal.seal("b", line("b"));
  journal.write();
  expect(recordsOf(directory, 1).at(-1)).toBe("R:b");
  journal.seal("c", line("c"));
  await journal.synced();
  expect(recordsOf(directory, 1).at(-1)).toBe("R:c");
  expect(statSync(segmentPath(directory, 1)).mode & 0o777).toBe(0o600);
  journal.close();
});

test("a wait ends only after a sync that started after the write", async () => {
  const syncs: ((error: Error | null) => void)[] = [];
  const { journal } = open({ files: { ...journalFiles, sync: (_, done) => void syncs.push(done) } });
  journal.seal("a", line("a"));
  const events: string[] = [];
  const a = journal.synced().then(() => events.push("a"));
  await nextTurn();
  journal.seal("b", line("b"));
  const b = journal.synced().then(() => events.push("b"));
  expect(syncs).toHaveLength(1);
  syncs[0]?.(null);
  await a;
  expect(events).toEqual(["a"]);
  await nextTurn();
  syncs[1]?.(null);
  await b;
  expect(journal.stable).toEqual(journal.written);
  journal.close();
});

test("a full segment is followed by one that carries the open calls over", async () => {
  const { journal, directory } = open({ segmentBytes: 300 });
  journal.begin("open", line("open"));
  journal.begin("done", line("done"));
  journal.seal("done", line("done", 300));
  journal.seal("last", line("last"));
  await journal.synced();
  expect(listSegments(directory).map((segment) => segment.number)).toEqual([1, 2]);
  expect(recordsOf(directory, 2)).toEqual(["H", "B:open", "R:last"]);
  journal.free({ segment: 2, offset: 0 });
  expect(listSegments(directory).map((segment) => segment.number)).toEqual([2]);
  journal.close();
});

test("space is reserved for all open calls, with or without begin marker", () => {
  const { journal } = open({ maxBytes: 60_000 });
  let calls = 0;
  while (journal.accepting(calls)) calls++;
  expect(calls).toBeGreaterThan(1);
  for (let i = 0; i < calls; i++) journal.begin(`c${i}`, line(`c${i}`, 2_000));
  for (let i = 0; i < calls; i++) journal.seal(`c${i}`, line(`c${i}`, 4_000));
  expect(journal.unshippedBytes).toBeLessThanOrEqual(60_000);
  journal.close();
});

test("a full journal accepts no call, but calls already begun can be sealed", () => {
  const { journal } = open({ maxBytes: 60_000 });
  const begun: string[] = [];
  while (journal.accepting()) {
    const id = `c${begun.length}`;
    journal.begin(id, line(id, 2_000));
    begun.push(id);
  }
  expect(begun.length).toBeGreaterThan(1);
  expect(journal.accepting()).toBe(false);
  for (const id of begun) journal.seal(id, line(id, 4_000));
  expect(journal.openCalls).toBe(0);
  expect(journal.unshippedBytes).toBeLessThanOrEqual(60_000);
  journal.free(journal.written);
  expect(journal.accepting()).toBe(true);
  journal.close();
});

test("a disk that fills up is noticed before a write fails, and calls are accepted again once there is room", async () => {
  let free = 64 * 1024 * 1024;
  let now = 0;
  using clock = spyOn(performance, "now").mockImplementation(() => now);
  const log = recordedLog();
  const { journal, directory } = open({ log, files: { ...journalFiles, free: () => free } });
  expect(journal.accepting()).toBe(true);
  journal.begin("a", line("a"));
  free = 15 * 1024 * 1024;
  now += 1_000;
  expect([journal.accepting(), journal.failed]).toEqual([false, null]);
  journal.seal("a", line("a"));
  await journal.synced();
  expect(recordsOf(directory, 1)).toEqual(["H", "B:a", "R:a"]);
  // So little is not worth a new segment.
  expect(journal.makeRoom()).toBe(false);
  journal.seal("b", line("b", 70_000));
  expect(journal.makeRoom()).toBe(true);
  expect(listSegments(directory).map(({ number }) => number)).toEqual([1, 2]);
  expect(journal.makeRoom()).toBe(false);
  free = 64 * 1024 * 1024;
  now += 1_000;
  expect([journal.accepting(), journal.makeRoom()]).toEqual([true, false]);
  expect(log.events.map(({ event }) => event)).toEqual(["audit_journal_disk_full", "audit_journal_disk_has_room"]);
  expect(clock).toHaveBeenCalled();
  journal.close();
});

test("free space counts as unlimited where it cannot be determined", () => {
  const directory = temporaryDirectory();
  expect(journalFiles.free(directory)).toBeGreaterThan(0);
  expect(journalFiles.free(`${directory}/gone`)).toBe(Number.POSITIVE_INFINITY);
});

test("accepted calls are recorded on a full disk by releasing the ballast file, which is recreated later", async () => {
  let left = Number.POSITIVE_INFINITY;
  let now = 0;
  using clock = spyOn(performance, "now").mockImplementation(() => now);
  const full = () => Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  const files: JournalFiles = {
    ...journalFiles,
    free: () => left,
    fill(_, bytes) {
      if (left < bytes) throw full();
      left -= bytes;
    },
    remove(path) {
      if (path.endsWith("ballast")) left += 4 * 1024 * 1024;
      else journalFiles.remove(path);
    },
    write(fd, bytes) {
      if (left < bytes.length) throw full();
      left -= bytes.length;
      return journalFiles.write(fd, bytes);
    },
  };
  const { journal, directory } = open({ files });
  expect(journal.accepting()).toBe(true);
  journal.begin("a", line("a"));
  left = 0;
  journal.seal("a", line("a"));
  journal.checkpoint(line("c"));
  await journal.synced();
  expect(recordsOf(directory, 1)).toEqual(["H", "B:a", "R:a", "C:c"]);
  expect([journal.accepting(), journal.makeRoom(), journal.failed]).toEqual([false, false, null]);
  left = 64 * 1024 * 1024;
  now += 1_000;
  expect([journal.accepting(), journal.makeRoom()]).toEqual([true, false]);
  expect(left).toBe(60 * 1024 * 1024);
  // It cannot cope with two shortages in a row.
  left = 0;
  journal.begin("d", line("d"));
  left = 0;
  expect(() => journal.begin("e", line("e"))).toThrow(JournalFailed);
  expect(clock).toHaveBeenCalled();
  journal.close();
});

test("a write to a full disk fails the journal, and unstored rows are not acknowledged", async () => {
  let full = false;
  const files: JournalFiles = {
    ...journalFiles,
    write(fd, bytes) {
      if (!full) return journalFiles.write(fd, bytes);
      throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    },
  };
  const { journal } = open({ files });
  journal.begin("a", line("a"));
  full = true;
  journal.seal("a", line("a"));
  await expect(journal.synced()).rejects.toThrow(JournalFailed);
  full = false;
  expect(journal.accepting()).toBe(false);
  expect(() => journal.begin("b", line("b"))).toThrow(JournalFailed);
  expect(() => journal.seal("a", line("a"))).toThrow(JournalFailed);
  await expect(journal.synced()).rejects.toThrow(JournalFailed);
  journal.close();
});

test("a lone call's row is on stable storage after an immediate sync, and a failed sync fails the journal", async () => {
  let immediateSyncs = 0;
  let broken = false;
  const files: JournalFiles = {
    ...journalFiles,
    sync: (_, done) => done(broken ? new Error("I/O error") : null),
    syncNow(fd) {
      if (broken) throw new Error("I/O error");
      immediateSyncs++;
      journalFiles.syncNow(fd);
    },
  };
  const { journal, directory } = open({ files });
  // The first sync also makes the new file durable, so it cannot be an immediate one.
  journal.seal("a", line("a"));
  await journal.synced(true);
  expect(immediateSyncs).toBe(0);
  // A busy machine may seem to have a slow disk for a while.
  for (let more = 0; immediateSyncs === 0 && more < 1_000; more++) {
    journal.seal("b", line("b"));
    await journal.synced(true);
  }
  expect(immediateSyncs).toBe(1);
  expect(journal.stable).toEqual(journal.written);
  expect(recordsOf(directory, 1).at(-1)).toBe("R:b");
  broken = true;
  journal.seal("c", line("c"));
  await expect(journal.synced(true)).rejects.toThrow(JournalFailed);
  expect(journal.stable).not.toEqual(journal.written);
  expect(() => journal.begin("d", line("d"))).toThrow(JournalFailed);
  journal.close();
});

test("a failed sync is not tried again", async () => {
  let syncs = 0;
  const files: JournalFiles = { ...journalFiles, sync: (_, done) => done(++syncs === 1 ? new Error("I/O error") : null) };
  const { journal } = open({ files });
  journal.seal("a", line("a"));
  await expect(journal.synced()).rejects.toThrow(JournalFailed);
  await expect(journal.synced()).rejects.toThrow(JournalFailed);
  expect(syncs).toBe(1);
  expect(journal.accepting()).toBe(false);
  journal.close();
});

test("a segment that cannot be removed keeps its successors, is logged once, and is removed later", async () => {
  let stuck = true;
  const remove: JournalFiles["remove"] = (path) => {
    if (stuck && path.endsWith("2.log")) throw Object.assign(new Error("input/output error"), { code: "EIO" });
    journalFiles.remove(path);
  };
  const log = recordedLog();
  const { journal, directory } = open({ files: { ...journalFiles, remove }, log, segmentBytes: 300 });
  for (const id of ["a", "b", "c", "d"]) journal.seal(id, line(id, 300));
  await journal.synced();
  const numbers = () => listSegments(directory).map((segment) => segment.number);
  expect(numbers()).toEqual([1, 2, 3, 4, 5]);
  journal.free({ segment: 4, offset: 0 });
  journal.free({ segment: 5, offset: 0 });
  expect(numbers()).toEqual([2, 3, 4, 5]);
  expect(log.events.filter(({ event }) => event === "audit_segment_not_removed")).toHaveLength(1);
  stuck = false;
  journal.free({ segment: 5, offset: 0 });
  expect(numbers()).toEqual([5]);
  journal.close();
});

test("a segment already removed by someone else does not prevent removing later ones", async () => {
  const { journal, directory } = open({ segmentBytes: 300 });
  for (const id of ["a", "b"]) journal.seal(id, line(id, 300));
  await journal.synced();
  journalFiles.remove(segmentPath(directory, 1));
  journal.free({ segment: 3, offset: 0 });
  expect(listSegments(directory).map((segment) => segment.number)).toEqual([3]);
  journal.close();
});

test("a journal that could not create a segment can be closed", () => {
  let full = false;
  const closed: number[] = [];
  const files: JournalFiles = {
    ...journalFiles,
    create(path) {
      if (full) throw new Error("read-only file system");
      return journalFiles.create(path);
    },
    close(fd) {
      closed.push(fd);
      journalFiles.close(fd);
    },
  };
  const { journal } = open({ files, segmentBytes: 300 });
  full = true;
  expect(() => journal.seal("a", line("a", 300))).toThrow(JournalFailed);
  journal.close();
  // The segment and the directory.
  expect(new Set(closed).size).toBe(2);
  expect(closed).toHaveLength(2);
});

test("a process without free file descriptors continues in the current segment, and starts the next one later", async () => {
  let none = false;
  const log = recordedLog();
  const files: JournalFiles = {
    ...journalFiles,
    create(path) {
      if (none) throw Object.assign(new Error("too many open files"), { code: "EMFILE" });
      return journalFiles.create(path);
    },
    openDirectory(path) {
      if (none) throw Object.assign(new Error("too many open files"), { code: "EMFILE" });
      return journalFiles.openDirectory(path);
    },
  };
  const { journal, directory } = open({ files, log, segmentBytes: 300 });
  none = true;
  for (const id of ["a", "b"]) journal.seal(id, line(id, 300));
  await journal.synced();
  expect(journal.failed).toBeNull();
  expect(() => journal.rotate()).toThrow("no file");
  expect(recordsOf(directory, 1)).toEqual(["H", "R:a", "R:b"]);
  expect(log.events.map(({ event }) => event)).toEqual(["audit_journal_segment_delayed"]);
  none = false;
  journal.seal("c", line("c"));
  await journal.synced();
  expect(recordsOf(directory, 1)).toEqual(["H", "R:a", "R:b", "R:c"]);
  expect(listSegments(directory).map((segment) => segment.number)).toEqual([1, 2]);
  journal.close();
});

test("a process with one free file descriptor starts a new segment, with a call in progress", async () => {
  const script = `
    import { closeSync, openSync } from "node:fs";
    import { openJournal } from ${JSON.stringify(new URL("./open-journal.ts", import.meta.url).pathname)};
    import { journalFiles } from ${JSON.stringify(new URL("./segments.ts", import.meta.url).pathname)};
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const journal = openJournal({ directory: process.argv[1], files: journalFiles, log, maxBytes: 1e9, segmentBytes: 300, existing: [], number: 1, header: () => "{}" });
    journal.begin("under way", JSON.stringify({ id: "under way" }));
    const open = [];
    try { for (;;) open.push(openSync("/dev/null", "r")); } catch {}
    const line = (id) => id + "\\t" + "x".repeat(300);
    for (const id of ["a", "b"]) journal.seal(id, line(id));
    closeSync(open.pop());
    journal.seal("c", line("c"));
    for (const file of open) closeSync(file);
    console.log(JSON.stringify([journal.failed, journal.accepting(), journal.written.segment]));
    process.exit(0);`;
  const { directory } = open();
  const own = join(directory, "of a process with few files");
  mkdirSync(own);
  const child = Bun.spawnSync(["bash", "-c", 'ulimit -n 200 && exec "$0" -e "$1" "$2"', process.execPath, script, own]);
  expect(child.stderr.toString()).toBe("");
  expect(JSON.parse(child.stdout.toString())).toEqual([null, true, 2]);
});
