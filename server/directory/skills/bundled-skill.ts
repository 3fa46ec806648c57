import { InvalidSkill, MAX_SKILL_BYTES, MAX_SKILL_FILES, type SkillFault, type SkillFile } from "./skill-file.ts";

/** The folder of a repository that is the skill, and the branch or tag. */
export interface BundledPlace {
  readonly path?: string | undefined;
  readonly ref?: string | undefined;
}

/** Reads the files of one folder of a bundled Git repository within the given limits, or returns what is wrong with it. */
export type GitBundles = (
  bytes: Uint8Array,
  terms: BundledPlace & { readonly mostFiles: number; readonly mostBytes: number },
) => Promise<readonly SkillFile[] | SkillFault>;

/** Whether the bytes are a bundle as written by `git bundle create`. */
export const isGitBundle = (bytes: Uint8Array): boolean =>
  /^# v[23] git bundle\n/.test(Buffer.from(bytes.subarray(0, 20)).toString("latin1"));

/** The files of a skill in a bundled repository. Throws `InvalidSkill`. */
export async function bundledSkill(bytes: Uint8Array, place: BundledPlace, read: GitBundles): Promise<SkillFile[]> {
  const files = await read(bytes, { ...place, mostFiles: MAX_SKILL_FILES, mostBytes: MAX_SKILL_BYTES });
  if ("message" in files) throw new InvalidSkill([files]);
  return [...files];
}
