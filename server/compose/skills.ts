import type { Files } from "../directory/files/stored-files.ts";
import { ServedSkills } from "../directory/skills/served-skills.ts";
import type { Log } from "../kernel/log.ts";
import { semaphore } from "../kernel/scheduling/semaphore.ts";
import type { SkillTools } from "../services/tools/skills/skill-parts.ts";
import type { Database } from "../store/database.ts";
import { Sandbox } from "../upstreams/sandbox/sandbox.ts";
import { SkillFolders } from "../upstreams/sandbox/skill-folders.ts";

/** Concurrent script runs, in total and per tenant. Each uses memory and a processor of this machine. */
const RUNS = { most: 96, mostOfOne: 64, waitMs: 10_000 };

/** The dependencies of the skill server. */
export function openSkills(db: Database, files: Files, log: Log): SkillTools & { close(): Promise<void> } {
  const sandbox = new Sandbox(process.env, log);
  return {
    served: new ServedSkills(db),
    sandbox,
    folders: new SkillFolders(() => sandbox.folder()),
    running: semaphore(RUNS),
    files,
    close: () => sandbox.close(),
  };
}
