import type { ServedSkillRow } from "../../store/agents/agent-skills.ts";

/** A skill as calls use it: its served version. */
export interface SkillEntry {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: number;
  /** Covers all files of the version. */
  readonly digest: string;
  /** Paths of scripts that require approval before they run; * stands for all. */
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

/** The parts of a scope that determine which skills it grants. */
interface GrantedScope {
  readonly grantingGroups: ReadonlySet<string>;
  readonly tenant: { readonly skills: readonly SkillEntry[] };
}

/** The skills that a caller may use, by name: granted to its group directly or by inheritance, and allowed by its key. */
export function grantedSkills({ grantingGroups, tenant }: GrantedScope, allowed: readonly string[] | undefined): SkillEntry[] {
  return tenant.skills.filter(({ id, groupIds }) => !groupIds.isDisjointFrom(grantingGroups) && (allowed?.includes(id) ?? true));
}
