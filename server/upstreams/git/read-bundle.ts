import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryPlace } from "../temporary-place.ts";
import { runGit } from "./run-git.ts";

interface BundleTerms {
  /** Folder within the repository; the root by default. */
  readonly path?: string | undefined;
  /** A branch or tag; by default HEAD, main, master or the only ref. */
  readonly ref?: string | undefined;
  /** Larger folders are refused. */
  readonly mostFiles: number;
  readonly mostBytes: number;
}

interface BundledFile {
  readonly path: string;
  readonly content: Uint8Array;
  readonly executable: boolean;
}

/** Why a repository cannot be read, and which field of the request is the cause. */
interface UnfitBundle {
  readonly field: string;
  readonly message: string;
}

type GitBundleReader = (bytes: Uint8Array, terms: BundleTerms) => Promise<readonly BundledFile[] | UnfitBundle>;

/** Most bytes that `git cat-file --batch` adds to each file: its header line and the final newline. */
const MAX_HEAD_LENGTH = 100;
const LISTING_BYTES = 8 * 1024 * 1024;
const unfit = (field: string, message: string): UnfitBundle => ({ field, message });

/** Reads the files of one folder of a bundled repository. Nothing is checked out or run, and temporary data is deleted afterwards. */
export const readGitBundle: GitBundleReader = async (bytes, terms) => {
  const folder = await temporaryPlace("gatehouse-bundle-");
  try {
    await writeFile(join(folder, "bundle"), bytes);
    const made = await runGit(folder, ["init", "--quiet", "--bare", "repository"], LISTING_BYTES);
    if (made === "missing") return unfit("file", "is a Git bundle, and there is no git on this machine");
    const place = join(folder, "repository");
    const output = await runGit(place, ["-c", "core.bigFileThreshold=4m", "bundle", "unbundle", join(folder, "bundle")], LISTING_BYTES);
    if (typeof output === "string") return unfit("file", "is no Git bundle that can be read by itself: it must hold all it builds upon");
    const commit = commitOf(output.toString(), terms.ref);
    return typeof commit === "string" ? await filesOf(place, commit, terms) : commit;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

function commitOf(output: string, ref: string | undefined): string | UnfitBundle {
  const refs = output.split("\n").flatMap((line) => {
    const [, id, name] = /^([0-9a-f]{40,64}) (\S+)$/.exec(line) ?? [];
    return id === undefined || name === undefined ? [] : [{ id, name }];
  });
  const names = refs.map(({ name }) => name.replace(/^refs\/(?:heads|tags)\//, ""));
  const wanted = ref === undefined ? ["HEAD", "refs/heads/main", "refs/heads/master"] : [`refs/heads/${ref}`, `refs/tags/${ref}`, ref];
  const found = wanted.map((name) => refs.find((one) => one.name === name)).find((one) => one !== undefined);
  if (found !== undefined) return found.id;
  if (ref === undefined && refs.length === 1 && refs[0] !== undefined) return refs[0].id;
  return unfit(
    "ref",
    `${ref === undefined ? "is required" : "is none of the bundle's"}: it has ${names.slice(0, 20).join(", ").slice(0, 500)}`,
  );
}

interface Entry {
  readonly mode: string;
  readonly id: string;
  readonly size: number;
  readonly path: string;
}

async function filesOf(place: string, commit: string, terms: BundleTerms): Promise<readonly BundledFile[] | UnfitBundle> {
  const listing = await runGit(place, ["ls-tree", "-r", "-z", "-l", "--full-tree", commit], LISTING_BYTES);
  if (typeof listing === "string") return unfit("file", "holds no commit that can be read");
  const all = listing
    .toString()
    .split("\0")
    .flatMap((line): Entry[] => {
      const [, mode = "", id = "", size = "", path = ""] = /^(\d{6}) \w+ ([0-9a-f]+) +(\d+|-)\t(.+)$/s.exec(line) ?? [];
      return path === "" ? [] : [{ mode, id, size: size === "-" ? 0 : Number(size), path }];
    });
  const folder = (terms.path ?? "").replace(/^\/+|\/+$/g, "");
  const within = folder === "" ? all : all.filter(({ path }) => path.startsWith(`${folder}/`));
  if (folder !== "" && within.length === 0) return unfit("path", `is no folder of the repository${skillFolders(all)}`);
  const files = within.map((entry) => ({ ...entry, path: folder === "" ? entry.path : entry.path.slice(folder.length + 1) }));
  if (folder === "" && !files.some(({ path }) => path === "SKILL.md") && skillFolders(all) !== "")
    return unfit("path", `is required, because there is no SKILL.md at the root${skillFolders(all)}`);
  const wrong = wrongIn(files, terms);
  if (wrong !== null) return wrong;
  const most = files.reduce((sum, { size }) => sum + size + MAX_HEAD_LENGTH, 0);
  const blobs = await runGit(place, ["cat-file", "--batch"], most, files.map(({ id }) => `${id}\n`).join(""));
  if (typeof blobs === "string") return unfit("file", "holds files that cannot be read");
  let at = 0;
  return files.map(({ size, path, mode }) => {
    const from = blobs.indexOf(10, at) + 1;
    at = from + size + 1;
    return { path, content: new Uint8Array(blobs.subarray(from, from + size)), executable: mode === "100755" };
  });
}

function wrongIn(files: readonly Entry[], { mostFiles, mostBytes }: BundleTerms): UnfitBundle | null {
  const odd = files.find(({ mode }) => !/^100(?:644|755|664)$/.test(mode));
  if (odd !== undefined) return unfit(odd.path, "is a link or another repository: only files and folders are taken");
  if (files.length > mostFiles) return unfit("file", `has more than ${mostFiles} files there`);
  if (files.reduce((sum, { size }) => sum + size, 0) > mostBytes)
    return unfit("file", `holds more than ${mostBytes / 1024 / 1024} MiB there`);
  return null;
}

/** The repository's skill folders, as a phrase for messages. */
function skillFolders(entries: readonly Entry[]): string {
  const found = entries.flatMap(({ path }) => (path.endsWith("/SKILL.md") ? [path.slice(0, -"/SKILL.md".length)] : []));
  return found.length === 0 ? "" : `: skills are in ${found.slice(0, 50).join(", ").slice(0, 1_500)}`;
}
