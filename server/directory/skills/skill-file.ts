/** One file of a skill. */
export interface SkillFile {
  /** Relative to the skill's root, with forward slashes. */
  readonly path: string;
  readonly content: Uint8Array;
  readonly executable: boolean;
}

/** What is wrong with a skill, and where: in a file, or a line of one. */
export interface SkillFault {
  readonly field: string;
  readonly message: string;
}

/** A skill that is refused. */
export class InvalidSkill extends Error {
  readonly faults: readonly SkillFault[];
  constructor(faults: readonly SkillFault[]) {
    super(faults.map(({ field, message }) => `${field} ${message}`).join("; "));
    this.name = "InvalidSkill";
    this.faults = faults;
  }
}

/** The limits that every host of the MCP skills extension accepts. */
export const MAX_SKILL_FILES = 512;
export const MAX_SKILL_BYTES = 16 * 1024 * 1024;

export const SKILL_DOCUMENT = "SKILL.md";
