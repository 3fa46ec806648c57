import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { reasonOf } from "../../kernel/errors.ts";
import { type FileLock, LockedError, lockFile } from "../../runtime/file-lock.ts";
import { writeWhole } from "../../runtime/whole-file.ts";
import { AdminApiError, type ConfigApi } from "./admin-api.ts";
import { type ConfigEntry, isConfigEntry } from "./value.ts";

/** A request for a key whose response may have been lost. Sending it again returns the first response. */
interface BegunKey {
  /** Which tenant of which gateway was asked. */
  readonly asked: string;
  readonly path: string;
  readonly body: ConfigEntry;
  readonly once: string;
}

/**
 * Values of new API keys by name, in a file that only its owner can read. A key is shown only once and this process may be killed before
 * storing the response, so pending requests are kept in a second file beside it. Only one process at a time writes it, from its first write
 * until it releases the file.
 */
export class KeysFile {
  private path: string;
  private keys: Record<string, string> = {};
  private begun: Record<string, BegunKey> = {};
  private lock: FileLock | null = null;

  /** Throws if the file, or the one beside it, contains something else. */
  constructor(path: string) {
    this.path = path;
    this.write(() => {
      if (existsSync(path)) this.path = realpathSync(path);
      this.read();
    });
  }

  /** Throws if keys could not be stored. */
  prepare(): void {
    this.hold();
    this.write(() => write(this.path, this.keys));
  }

  release(): void {
    this.lock?.release();
    this.lock = null;
  }

  /** Takes the lock and reads the files again, because another process may have written them. */
  private hold(): void {
    if (this.lock !== null) return;
    this.write(() => {
      this.lock = lockFile(`${this.path}.lock`);
      this.read();
    });
  }

  private read(): void {
    this.keys = readEntries(this.path, (value) => typeof value === "string", "API keys by their names") as Record<string, string>;
    this.begun = readEntries(this.begunPath, isBegun, "keys that were begun") as unknown as Record<string, BegunKey>;
  }

  private write(work: () => void): void {
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

  /** Fetches the values that an earlier, interrupted apply did not store. Yields the name of each, and the reason if it is lost. */
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

  /** Creates a key so that its value reaches the file even if this process is killed. */
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

/** After any other error the request may have been carried out. */
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
