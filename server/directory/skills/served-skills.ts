import type { Database } from "../../store/database.ts";
import { skillFileFacts, skillFiles, skillVersion } from "../../store/agents/agent-skills.ts";
import { BoundedMap } from "../bounded-map.ts";
import type { SkillEntry } from "./skill-entry.ts";
import { SKILL_DOCUMENT } from "./skill-file.ts";

export interface ServedFile {
  readonly content: Uint8Array;
  readonly digest: string;
  readonly executable: boolean;
}

/** A version of a skill with all its bytes. */
export interface ServedSkill {
  readonly frontmatter: Readonly<Record<string, unknown>>;
  /** By path, in order. */
  readonly files: ReadonlyMap<string, ServedFile>;
  /** The content of SKILL.md. */
  readonly document: Uint8Array;
  readonly size: number;
}

const MAX_BYTES = 128 * 1024 * 1024;

/** Versions of skills as imported, cached on first use; a version never changes. */
export class ServedSkills {
  private readonly kept = new BoundedMap<string, ServedSkill>(MAX_BYTES, undefined, ({ size }) => size);
  private readonly loading = new Map<string, Promise<ServedSkill>>();
  private readonly db: Database;

  constructor(db: Database) {
    this.db = db;
  }

  /** Rejects if the database is needed and unreachable. */
  of({ id, version }: Pick<SkillEntry, "id" | "version">): ServedSkill | Promise<ServedSkill> {
    const key = `${id}/${version}`;
    const kept = this.kept.get(key);
    if (kept !== undefined) return kept;
    const under = this.loading.get(key);
    if (under !== undefined) return under;
    const load = this.read(id, version)
      .then((skill) => {
        this.kept.set(key, skill);
        return skill;
      })
      .finally(() => this.loading.delete(key));
    this.loading.set(key, load);
    return load;
  }

  private async read(id: string, version: number): Promise<ServedSkill> {
    const row = await skillVersion(this.db, id, version);
    const facts = await skillFileFacts(this.db, id, version);
    const contents = new Map((await skillFiles(this.db, id, version)).map(({ path, content }) => [path, content]));
    const files = new Map(
      facts.map(({ path, digest, executable }) => [path, { digest, executable, content: contents.get(path) ?? new Uint8Array() }]),
    );
    const document = files.get(SKILL_DOCUMENT)?.content;
    if (row === undefined || document === undefined) throw new Error("a version of a skill that is served is not there");
    const size = 1_000 + [...files.values()].reduce((sum, { content }) => sum + content.byteLength, 0);
    return { frontmatter: row.frontmatter, files, document, size };
  }
}
