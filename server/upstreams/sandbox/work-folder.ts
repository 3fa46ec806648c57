import { chmodSync, lstatSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PREFIX = "gatehouse-skills-";
const FILTER = "filter.bpf";

/**
 * A folder of this process below the one for temporary files, with the filter of system calls in it, readable to everybody as
 * nobody has to read it. Machines clear away what lies there unused for some days, so it is looked at before each use and
 * made anew where it is gone.
 */
export class WorkFolder {
  private readonly filter: Uint8Array | null;
  private path: string;

  /** `filter`: null where there is none for this machine. */
  constructor(filter: Uint8Array | null) {
    this.filter = filter;
    removeOfTheDead();
    this.path = made();
  }

  current(): string {
    // One that somebody else made under the name since is not ours to use.
    const found = lstatSync(this.path, { throwIfNoEntry: false });
    if (found === undefined || !found.isDirectory() || found.uid !== (process.getuid?.() ?? found.uid)) this.path = made();
    return this.path;
  }

  /** The file with the filter. */
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
 * Folders of processes that were killed. Only those of the same process namespace can be told from the living: a gateway in a
 * container that shares the place has numbers that mean nothing here.
 */
function removeOfTheDead(): void {
  const prefix = ownPrefix();
  for (const name of readdirSync(tmpdir()).filter((one) => one.startsWith(prefix))) {
    const pid = Number(name.slice(prefix.length).split("-")[0]);
    if (!isAlive(pid)) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
}

const ownPrefix = () => `${PREFIX}${processNamespace()}-`;

/** The number Linux gives to the namespace in which processes are numbered; 0 where there are none. */
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
