import { createHash } from "node:crypto";
import { readSkillDocument, type SkillDocument } from "./skill-document.ts";
import { InvalidSkill, SKILL_DOCUMENT, type SkillFile } from "./skill-file.ts";
import { checkFiles } from "./skill-path.ts";

/** A valid skill: its files in order, and its parsed document. */
export interface SkillBundle {
  readonly document: SkillDocument;
  readonly files: readonly SkillFile[];
  /** Covers all files with their paths and executable flags, so identical skills have the same digest. */
  readonly digest: string;
}

export const sha256 = (content: Uint8Array | string): string => `sha256:${createHash("sha256").update(content).digest("hex")}`;

// Files that the macOS Finder adds to archives.
const isLitter = (path: string) => path.startsWith("__MACOSX/") || /(?:^|\/)\.DS_Store$/.test(path);

/** Validates the files of a skill, whose SKILL.md is at the root or in the single top-level folder. Throws `InvalidSkill`. */
export function skillBundle(given: readonly SkillFile[]): SkillBundle {
  checkFiles(given);
  const kept = given.filter(({ path }) => !isLitter(path));
  const folder = topFolder(kept);
  const files = kept
    .map((file) => (folder === null ? file : { ...file, path: file.path.slice(folder.length + 1) }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  const documents = files.filter(({ path }) => /(?:^|\/)skill\.md$/i.test(path));
  const [first] = documents;
  if (first?.path !== SKILL_DOCUMENT || documents.length > 1)
    throw new InvalidSkill([
      { field: "file", message: `must hold exactly one ${SKILL_DOCUMENT}, at the root or in the one folder there is at the root` },
    ]);
  const read = readSkillDocument(first.content);
  const warnings = [
    ...read.warnings,
    ...(folder === null || folder === read.name ? [] : [`the folder ${folder} is not named ${read.name}, as the skill is`]),
    ...(kept.length === given.length ? [] : ["files that macOS leaves in archives were left out"]),
  ];
  return { document: { ...read, warnings }, files, digest: digestOf(files) };
}

function topFolder(files: readonly SkillFile[]): string | null {
  const tops = new Set(files.map(({ path }) => (path.includes("/") ? path.slice(0, path.indexOf("/")) : "")));
  const [only] = tops;
  return tops.size === 1 && only !== undefined && only !== "" ? only : null;
}

function digestOf(files: readonly SkillFile[]): string {
  return sha256(files.map(({ path, content, executable }) => `${sha256(content)} ${executable ? "x" : "-"} ${path}\n`).join(""));
}
