import { lstat, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ulid } from "../../kernel/ids.ts";

type SkillFiles = ReadonlyMap<string, { readonly content: Uint8Array; readonly executable: boolean }>;

interface Folder {
  /** Resolves to the folder's path once it is written. */
  readonly ready: Promise<string>;
  /** How many runs are using it. */
  users: number;
}

const MAX_FOLDERS = 64;

/**
 * Skill files on disk for scripts: one immutable folder per digest, shared by its runs. If files of a folder were deleted by the system, a
 * new one is written next to it.
 */
export class SkillFolders {
  private readonly folders = new Map<string, Folder>();
  private readonly root: () => string;

  /** `root`: returns the current parent folder. */
  constructor(root: () => string) {
    this.root = root;
  }

  /** The folder's path, and a function to call when it is no longer used. */
  async open(digest: string, files: SkillFiles): Promise<{ readonly path: string; readonly close: () => void }> {
    const known = this.folders.get(digest);
    if (known !== undefined) {
      const path = await this.entered(known);
      if (await isWhole(path, files)) return { path, close: () => this.left(known) };
      // Whoever noticed first may have written a new one already.
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

  /** Creates a folder for one run, with the caller's files. */
  async forRun(files: ReadonlyMap<string, Uint8Array>): Promise<{ readonly path: string; readonly close: () => Promise<void> }> {
    const path = join(this.root(), `input-${ulid()}`);
    await written(path, new Map([...files].map(([name, content]) => [name, { content, executable: false }])));
    return { path, close: () => rm(path, { recursive: true, force: true }) };
  }

  private left(folder: Folder): void {
    folder.users--;
    if (folder.users === 0 && ![...this.folders.values()].includes(folder)) remove(folder);
    for (const [digest, one] of this.folders) {
      if (this.folders.size <= MAX_FOLDERS) return;
      if (one.users > 0) continue;
      this.folders.delete(digest);
      remove(one);
    }
  }
}

function remove({ ready }: Folder): void {
  void ready.then((path) => rm(path, { recursive: true, force: true })).catch(() => undefined);
}

/** Whether every file still exists with its full length. */
async function isWhole(folder: string, files: SkillFiles): Promise<boolean> {
  const sizeChecks = [...files].map(async ([path, { content }]) => (await lstat(join(folder, path))).size === content.byteLength);
  return Promise.all(sizeChecks).then(
    (found) => found.every(Boolean),
    () => false,
  );
}

/** Writes all files or none, so that a full disk keeps no partial folder. */
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
