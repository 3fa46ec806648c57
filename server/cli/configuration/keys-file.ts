import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { reasonOf } from "../../kernel/errors.ts";
import { type FileLock, LockedError, lockFile } from "../../runtime/file-lock.ts";
import { writeWhole } from "../../runtime/whole-file.ts";
import { AdminApiError, type ConfigApi } from "./admin-api.ts";
import { type ConfigEntry, isConfigEntry } from "./value.ts";

/** A request for a key that may have been made although its answer never came. Sent again, it is answered as it was at first. */
interface BegunKey {
  /** Which tenant of which gateway was asked. */
  readonly asked: string;
  readonly path: string;
  readonly body: ConfigEntry;
  readonly once: string;
}

/**
 * Values of new API keys by their names, in a file that its owner alone can read. Beside it stands, while keys are made, what
 * has been asked for: a key is shown once, and whoever asked may be killed before the answer is written. One process at a time
 * writes it, from its first write until it releases the file.
 */
export class KeysFile {
  private path: string;
  private keys: Record<string, string> = {};
  private begun: Record<string, BegunKey> = {};
  private lock: FileLock | null = null;

  /** Throws where the file, or what stands beside it, holds something else. */
  constructor(path: string) {
    this.path = path;
    this.telling(() => {
      if (existsSync(path)) this.path = realpathSync(path);
      this.read();
    });
  }

  /** Throws where keys could not be kept. */
  prepare(): void {
    this.hold();
    this.telling(() => write(this.path, this.keys));
  }

  release(): void {
    this.lock?.release();
    this.lock = null;
  }

  /** What was read before is read again: another process may have written meanwhile. */
  private hold(): void {
    if (this.lock !== null) return;
    this.telling(() => {
      this.lock = lockFile(`${this.path}.lock`);
      this.read();
    });
  }

  private read(): void {
    this.keys = readEntries(this.path, (value) => typeof value === "string", "API keys by their names") as Record<string, string>;
    this.begun = readEntries(this.begunPath, isBegun, "keys that were begun") as unknown as Record<string, BegunKey>;
  }

  private telling(work: () => void): void {
    try {
      work();
    } catch (error) {
      const reason =
        error instanceof LockedError
          ? `another apply${error.pid === undefined ? "" : ` (process ${error.pid})`} is writing keys there: apply again when that has ended`
          : reasonOf(error);
      throw new Error(`--keys-file ${this.path}: ${reason}`, { cause: error });
    }
  }

  private get begunPath(): string {
    return `${this.path}.unfinished`;
  }

  /** Fetches the values that an apply before was killed over. Yields the name of each, and why it cannot be had where it cannot. */
  async *fetchBegun(api: ConfigApi): AsyncGenerator<{ readonly name: string; readonly lost: string | null }> {
    if (Object.keys(this.begun).length > 0) this.hold();
    for (const [name, { asked, path, body, once }] of Object.entries(this.begun)) {
      if (asked !== api.place) continue;
      try {
        this.keep(name, await api.ask("POST", path, body, once));
        yield { name, lost: null };
      } catch (error) {
        if (!isRefused(error)) throw error;
        this.giveUp(name);
        yield { name, lost: reasonOf(error) };
      }
    }
  }

  /** Asks for a key so that its value reaches the file whatever ends this process. */
  async make(name: string, api: ConfigApi, path: string, body: ConfigEntry): Promise<ConfigEntry> {
    const once = randomUUID();
    this.begun[name] = { asked: api.place, path, body, once };
    write(this.begunPath, this.begun);
    try {
      const made = await api.ask("POST", path, body, once);
      this.keep(name, made);
      return made;
    } catch (error) {
      if (isRefused(error)) this.giveUp(name);
      throw error;
    }
  }

  private keep(name: string, made: ConfigEntry): void {
    this.keys[name] = String(made["key"]);
    write(this.path, this.keys);
    this.giveUp(name);
  }

  private giveUp(name: string): void {
    delete this.begun[name];
    if (Object.keys(this.begun).length > 0) write(this.begunPath, this.begun);
    else rmSync(this.begunPath, { force: true });
  }
}

/** Anything else may have been carried out. */
const isRefused = (error: unknown): boolean =>
  error instanceof AdminApiError && error.status >= 400 && error.status < 500 && error.status !== 401;

function isBegun(value: unknown): boolean {
  const one = value as Partial<BegunKey> | null;
  return typeof one?.asked === "string" && typeof one.path === "string" && typeof one.once === "string" && isConfigEntry(one.body);
}

function readEntries(path: string, isOne: (value: unknown) => boolean, what: string): ConfigEntry {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const read: unknown = text.trim() === "" ? {} : JSON.parse(text);
  if (!isConfigEntry(read) || !Object.values(read).every(isOne)) throw new Error(`${path} holds something else than ${what}`);
  return { ...read };
}

function write(path: string, entries: Readonly<Record<string, unknown>>): void {
  writeWhole(path, `${JSON.stringify(entries, null, 2)}\n`);
}
