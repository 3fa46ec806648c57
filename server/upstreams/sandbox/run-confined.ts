import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ulid } from "../../kernel/ids.ts";
import { type ConfinedCommand, confinedArguments, type Confinement } from "./confinement.ts";

/** Why a run ended. */
export type ConfinedEnd = "exited" | "deadline" | "output_too_large" | "aborted" | "not_started";

export interface RunOutcome {
  readonly end: ConfinedEnd;
  readonly exitCode: number | null;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  /** The files it left in /output, by name. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly durationMs: number;
}

export interface RunTerms {
  readonly stdin: string;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

export const MAX_OUTPUT = 1024 * 1024;
const MAX_ERRORS = 64 * 1024;
const MAX_FILE_BYTES = 16 * 1024 * 1024;
const MAX_FILES = 32;
const MAX_NAME_LENGTH = 128;

/** Runs one command in the sandbox. Never rejects; failures are reported in `end`. */
export async function runConfined(
  confinement: Confinement,
  command: Omit<ConfinedCommand, "joins">,
  { stdin, deadlineMs, signal }: RunTerms,
): Promise<RunOutcome> {
  const startedAt = performance.now();
  const groups = openControlGroups(confinement);
  const child = spawn(
    "/bin/sh",
    confinedArguments(confinement, { ...command, joins: groups.map((group) => join(group, "cgroup.procs")) }),
    { env: { PATH: "/usr/bin:/bin" }, cwd: "/", stdio: ["pipe", "pipe", "pipe", "ignore", "pipe"] },
  );
  let end: ConfinedEnd = "exited";
  const stop = (why: ConfinedEnd) => {
    if (end === "exited") end = why;
    child.kill("SIGKILL");
  };
  const timer = setTimeout(() => stop("deadline"), deadlineMs);
  const aborted = () => stop("aborted");
  signal.addEventListener("abort", aborted, { once: true });
  if (signal.aborted) aborted();
  const [stdout, stderr, files] = [
    collector(MAX_OUTPUT, () => stop("output_too_large")),
    collector(MAX_ERRORS, () => undefined),
    collector(MAX_FILE_BYTES + 8_192, () => stop("output_too_large")),
  ];
  child.stdout?.on("data", stdout.take);
  child.stderr?.on("data", stderr.take);
  (child.stdio[4] as NodeJS.ReadableStream | null)?.on("data", files.take);
  // A script need not read its input.
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(stdin);
  const exitCode = await new Promise<number | null>((resolve) => {
    child.on("error", () => {
      end = "not_started";
      resolve(null);
    });
    child.on("close", (code) => resolve(code));
  });
  clearTimeout(timer);
  signal.removeEventListener("abort", aborted);
  await closeControlGroups(groups);
  return {
    end,
    exitCode,
    stdout: stdout.bytes(),
    stderr: stderr.bytes(),
    files: end === "exited" ? filesIn(files.bytes()) : new Map(),
    durationMs: Math.round(performance.now() - startedAt),
  };
}

function collector(most: number, full: () => void) {
  const pieces: Uint8Array[] = [];
  let size = 0;
  return {
    take(piece: Uint8Array): void {
      const room = most - size;
      if (room > 0) pieces.push(piece.byteLength > room ? piece.subarray(0, room) : piece);
      size += piece.byteLength;
      if (size > most) full();
    },
    bytes: () => new Uint8Array(Buffer.concat(pieces)),
  };
}

/** A safe, unique file name: letters, digits and a few other characters of the script's name for it. */
function nameFor(reportedName: string, files: ReadonlyMap<string, unknown>): string {
  const plain = reportedName.replace(/[^\p{L}\p{M}\p{N}._ -]+/gu, "_").replace(/^[^\p{L}\p{N}_]/u, "_");
  const name = plain.slice(0, MAX_NAME_LENGTH).toWellFormed();
  return files.has(name) ? `${files.size}_${name}` : name;
}

/** Parses name, size and bytes of each file. The confined process wrote them, so nothing is trusted. */
function filesIn(bytes: Uint8Array): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const line = (from: number) => bytes.indexOf(10, from);
  let at = 0;
  while (at < bytes.byteLength && files.size < MAX_FILES) {
    const nameEnd = line(at);
    const sizeEnd = nameEnd < 0 ? -1 : line(nameEnd + 1);
    if (sizeEnd < 0) break;
    const fieldName = Buffer.from(bytes.subarray(at, nameEnd)).toString();
    const size = Number(Buffer.from(bytes.subarray(nameEnd + 1, sizeEnd)).toString());
    if (fieldName === "" || !Number.isSafeInteger(size) || size < 0 || sizeEnd + 1 + size > bytes.byteLength) break;
    files.set(nameFor(fieldName, files), bytes.slice(sizeEnd + 1, sizeEnd + 1 + size));
    at = sizeEnd + 1 + size;
  }
  return files;
}

function openControlGroups({ controlGroups }: Confinement): string[] {
  const name = `gatehouse-run-${ulid().toLowerCase()}`;
  const made: string[] = [];
  for (const { folder, limits } of controlGroups) {
    const group = join(folder, name);
    try {
      mkdirSync(group);
    } catch {
      continue;
    }
    made.push(group);
    for (const [file, value] of Object.entries(limits)) writeFileSync(join(group, file), value);
  }
  return made;
}

/** Kills the remaining members and removes the groups, so that nothing of a run outlives it. */
async function closeControlGroups(groups: readonly string[]): Promise<void> {
  for (const group of groups) {
    for (let tries = 0; tries < 100; tries++) {
      try {
        rmdirSync(group);
        break;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") break;
        endMembers(group);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
  }
}

function endMembers(group: string): void {
  try {
    for (const pid of readFileSync(join(group, "cgroup.procs"), "utf8").split("\n").filter(Boolean)) process.kill(Number(pid), "SIGKILL");
  } catch {
    // The process or group has ended meanwhile.
  }
}
