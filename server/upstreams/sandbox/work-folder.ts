import { chmodSync, lstatSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PREFIX = "gatehouse-skills-";
const FILTER = "filter.bpf";

/**
 * This process's temporary folder, with the seccomp filter in it; world-readable, because scripts run as nobody. Operating systems delete
 * temporary files that are unused for some days, so it is checked before each use and recreated if it is gone.
 */
export class WorkFolder {
  private readonly filter: Uint8Array | null;
  private path: string;

  /** `filter`: null if there is none for this architecture. */
  constructor(filter: Uint8Array | null) {
    this.filter = filter;
    removeOfTheDead();
    this.path = made();
  }

  current(): string {
    // A folder that another user created under this name must not be used.
    const found = lstatSync(this.path, { throwIfNoEntry: false });
    if (found === undefined || !found.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid)) this.path = made();
    return this.path;
  }

  /** The path of the filter's file, which is rewritten if it is missing. */
  filterFile(): string {
    const file = join(this.current(), FILTER);
    const size = lstatSync(file, { throwIfNoEntry: false })?.size;
    if (this.filter !== null && size !== this.filter.byteLength) writeFileSync(file, this.filter);
    return file;
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

function made(): string {
  const folder = mkdtempSync(join(tmpdir(), `${ownPrefix()}${process.pid}-`));
  chmodSync(folder, 0o755);
  return folder;
}

/**
 * Removes folders of killed processes, only from the same PID namespace: a gateway in a container that shares the folder has process IDs
 * that mean nothing here.
 */
function removeOfTheDead(): void {
  const prefix = ownPrefix();
  for (const name of readdirSync(tmpdir()).filter((one) => one.startsWith(prefix))) {
    const pid = Number(name.slice(prefix.length).split("-")[0]);
    if (!isAlive(pid)) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
}

const ownPrefix = () => `${PREFIX}${processNamespace()}-`;

/** The inode number of the PID namespace; "0" if the system has none. */
function processNamespace(): string {
  return process.platform === "linux" ? (/\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0") : "0";
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
