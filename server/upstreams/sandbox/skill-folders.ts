import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ulid } from "../../kernel/ids.ts";

interface Folder {
  readonly ready: Promise<string>;
  /** Runs that read it. */
  users: number;
}

const MOST_FOLDERS = 64;

/** Files of skills on the disk, where scripts find them: one folder for each digest, shared by its runs and never changed. */
export class SkillFolders {
  private readonly folders = new Map<string, Folder>();
  private readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** The folder, and what says that it is not read any more. */
  async open(
    digest: string,
    files: ReadonlyMap<string, { readonly content: Uint8Array; readonly executable: boolean }>,
  ): Promise<{ readonly path: string; readonly close: () => void }> {
    let folder = this.folders.get(digest);
    if (folder === undefined) {
      folder = { ready: written(join(this.root, `skill-${ulid()}`), files), users: 0 };
      this.folders.set(digest, folder);
      folder.ready.catch(() => this.folders.delete(digest));
    }
    folder.users++;
    const used = folder;
    try {
      return { path: await folder.ready, close: () => this.left(used) };
    } catch (error) {
      used.users--;
      throw error;
    }
  }

  /** A folder for one run, with what its caller gave it. */
  async forRun(files: ReadonlyMap<string, Uint8Array>): Promise<{ readonly path: string; readonly close: () => Promise<void> }> {
    const path = join(this.root, `input-${ulid()}`);
    await written(path, new Map([...files].map(([name, content]) => [name, { content, executable: false }])));
    return { path, close: () => rm(path, { recursive: true, force: true }) };
  }

  private left(folder: Folder): void {
    folder.users--;
    for (const [digest, one] of this.folders) {
      if (this.folders.size <= MOST_FOLDERS) return;
      if (one.users > 0) continue;
      this.folders.delete(digest);
      void one.ready.then((path) => rm(path, { recursive: true, force: true })).catch(() => undefined);
    }
  }
}

async function written(
  folder: string,
  files: ReadonlyMap<string, { readonly content: Uint8Array; readonly executable: boolean }>,
): Promise<string> {
  await mkdir(folder, { mode: 0o755 });
  for (const [path, { content, executable }] of files) {
    const place = join(folder, path);
    await mkdir(dirname(place), { recursive: true, mode: 0o755 });
    await writeFile(place, content, { mode: executable ? 0o755 : 0o644 });
  }
  return folder;
}
