import type { Files } from "../../../directory/files/stored-files.ts";
import type { ServedSkills } from "../../../directory/skills/served-skills.ts";
import type { Semaphore } from "../../../kernel/scheduling/semaphore.ts";
import type { Sandbox } from "../../../upstreams/sandbox/sandbox.ts";
import type { SkillFolders } from "../../../upstreams/sandbox/skill-folders.ts";

/** The dependencies of the skill server. */
export interface SkillTools {
  readonly served: ServedSkills;
  readonly sandbox: Sandbox;
  readonly folders: SkillFolders;
  /** Limits concurrent scripts by tenant. */
  readonly running: Semaphore;
  readonly files: Pick<Files, "find" | "open" | "store" | "delete" | "signedPath">;
}
