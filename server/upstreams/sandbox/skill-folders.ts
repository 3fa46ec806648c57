import { lstat, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ulid } from "../../kernel/ids.ts";

type SkillFiles = ReadonlyMap<string, { readonly content: Uint8Array; readonly executable: boolean }>;

interface Folder {
  /** Where it is, once it is written. */
  readonly ready: Promise<string>;
  /** Runs that read it. */
  users: number;
}

const MOST_FOLDERS = 64;

/**
 * Files of skills on the disk, where scripts find them: one folder for each digest, shared by its runs and never changed. One
 * of which something was cleared away is given up, and written anew beside it.
 */
export class SkillFolders {
  private readonly folders = new Map<string, Folder>();
  private readonly root: () => string;

  /** `root`: where they stand now. */
  constructor(root: () => string) {
    this.root = root;
  }

  /** The folder, and what says that it is not read any more. */
  async open(digest: string, files: SkillFiles): Promise<{ readonly path: string; readonly close: () => void }> {
    const known = this.folders.get(digest);
    if (known !== undefined) {
      const path = await this.entered(known);
      if (await isWhole(path, files)) return { path, close: () => this.left(known) };
      // Whoever found that first has written another by now.
      if (this.folders.get(digest) === known) this.folders.delete(digest);
      this.left(known);
    }
    const folder = this.folders.get(digest) ?? this.begin(digest, files);
    return { path: await this.entered(folder), close: () => this.left(folder) };
  }

  private begin(digest: string, files: SkillFiles): Folder {
    const folder = { ready: written(join(this.root(), `skill-${ulid()}`), files), users: 0 };
    this.folders.set(digest, folder);
    folder.ready.catch(() => this.folders.delete(digest));
    return folder;
  }

  private async entered(folder: Folder): Promise<string> {
    folder.users++;
    try {
      return await folder.ready;
    } catch (error) {
      folder.users--;
      throw error;
    }
  }

  /** A folder for one run, with what its caller gave it. */
  async forRun(files: ReadonlyMap<string, Uint8Array>): Promise<{ readonly path: string; readonly close: () => Promise<void> }> {
    const path = join(this.root(), `input-${ulid()}`);
    await written(path, new Map([...files].map(([name, content]) => [name, { content, executable: false }])));
    return { path, close: () => rm(path, { recursive: true, force: true }) };
  }

  private left(folder: Folder): void {
    folder.users--;
    if (folder.users === 0 && ![...this.folders.values()].includes(folder)) remove(folder);
    for (const [digest, one] of this.folders) {
      if (this.folders.size <= MOST_FOLDERS) return;
      if (one.users > 0) continue;
      this.folders.delete(digest);
      remove(one);
    }
  }
}

function remove({ ready }: Folder): void {
  void ready.then((path) => rm(path, { recursive: true, force: true })).catch(() => undefined);
}

/** Whether every file is there still, as long as it was. */
async function isWhole(folder: string, files: SkillFiles): Promise<boolean> {
  const looked = [...files].map(async ([path, { content }]) => (await lstat(join(folder, path))).size === content.byteLength);
  return Promise.all(looked).then(
    (found) => found.every(Boolean),
    () => false,
  );
}

/** All of it, or nothing: a disk that is full does not stay so for what was begun. */
async function written(folder: string, files: SkillFiles): Promise<string> {
  try {
    await mkdir(folder, { mode: 0o755 });
    for (const [path, { content, executable }] of files) {
      const place = join(folder, path);
      await mkdir(dirname(place), { recursive: true, mode: 0o755 });
      await writeFile(place, content, { mode: executable ? 0o755 : 0o644 });
    }
  } catch (error) {
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
  return folder;
}
