import type { ServedSkillRow } from "../../store/agents/agent-skills.ts";

/** A skill as calls meet it: the version that is served. */
export interface SkillEntry {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: number;
  /** Of all files of the version. */
  readonly digest: string;
  /** Paths of scripts that run only once somebody approved it; * stands for all. */
  readonly approvalRequired: ReadonlySet<string>;
  readonly groupIds: ReadonlySet<string>;
}

export function skillEntries(rows: readonly ServedSkillRow[]): SkillEntry[] {
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    description: row.description,
    version: row.version,
    digest: row.digest,
    approvalRequired: new Set(row.approval_required_scripts),
    groupIds: new Set(row.group_ids),
  }));
}

/** A scope, as far as skills are granted by it. */
interface GrantedScope {
  readonly grantingGroups: ReadonlySet<string>;
  readonly tenant: { readonly skills: readonly SkillEntry[] };
}

/** Those that a caller may use: granted to its group or handed down to it, and opened by its key. By name. */
export function grantedSkills({ grantingGroups, tenant }: GrantedScope, allowed: readonly string[] | undefined): SkillEntry[] {
  return tenant.skills.filter(({ id, groupIds }) => !groupIds.isDisjointFrom(grantingGroups) && (allowed?.includes(id) ?? true));
}
