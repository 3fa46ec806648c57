import { forgetItem } from "../limits/group-policies.ts";
import type {
  AgentSkill,
  AgentSkillQuery,
  AgentSkillUpdate,
  AgentSkillVersion,
  AgentSkillVersionWithFiles,
} from "@gatehouse/contracts/agent-skills";
import { ulid } from "../../kernel/ids.ts";
import {
  type AgentSkillInsert,
  agentSkillIdByName,
  type AgentSkillPatch,
  type AgentSkillRow,
  agentSkillStore,
  type AgentSkillVersionRow,
  markPublished,
  skillFileFacts,
  skillFiles,
  skillVersion,
  versionsOfSkill,
} from "../../store/agents/agent-skills.ts";
import type { Database, Trx } from "../../store/database.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { writeSkillZip } from "./write-skill-zip.ts";
import { notFound, records } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";

export const AGENT_SKILLS = "agent-skills";

interface NewSkill {
  readonly name: string;
  readonly description: string;
}

function read(row: AgentSkillRow): AgentSkill {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    name: row.name,
    description: row.description,
    enabled: row.enabled,
    allow_local_export: row.allow_local_export,
    approval_required_scripts: row.approval_required_scripts,
    published_version: row.published_version,
    latest_version: row.latest_version ?? 0,
    execution_count: row.execution_count,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** Created only by imports. */
export const agentSkills = records<
  AgentSkillRow,
  AgentSkillInsert & { id: string },
  AgentSkillPatch,
  AgentSkill,
  NewSkill,
  AgentSkillUpdate,
  AgentSkillQuery,
  string
>({
  resource: AGENT_SKILLS,
  noun: "skill",
  store: agentSkillStore,
  read,
  tenantOf: (row) => row.tenant_id,
  takenBy: (write, tenantId, candidate) => agentSkillIdByName(write.trx, tenantId, candidate.name),
  toInsert: async (write, tenantId, body) => ({
    ...body,
    id: `skill-${ulid()}`,
    tenant_id: tenantId,
    created_at: write.now,
    updated_at: write.now,
  }),
  toPatch: async (write, _tenantId, _row, body) => ({ ...body, updated_at: write.now }) as AgentSkillPatch,
  dependents: async () => [],
  removing: (write, row) => forgetItem(write, row.tenant_id, "skill", row.id),
  notify: (write, row) => write.notify(row.tenant_id, "policy"),
});

const versionRead = (row: AgentSkillVersionRow, published: number | null): AgentSkillVersion => ({
  skill_id: row.skill_id,
  version: row.version,
  digest: row.digest,
  description: row.description,
  file_count: row.file_count,
  size_bytes: row.size_bytes,
  published: row.version === published,
  published_at: row.published_at?.toISOString() ?? null,
  created_at: row.created_at.toISOString(),
});

export async function listSkillVersions(
  directory: Directory,
  tenantId: string,
  skillId: string,
  page: Page,
): Promise<Paged<AgentSkillVersion>> {
  const { published_version: published } = await agentSkills.get(directory, tenantId, skillId);
  const { items, total } = await versionsOfSkill(directory.db, skillId, page);
  return { total, items: items.map((row) => versionRead(row, published)) };
}

/** Throws a `not_found` refusal, also for a version that is not a number. */
async function foundVersion(
  db: Database | Trx,
  tenantId: string,
  skillId: string,
  version: string,
): Promise<{ skill: AgentSkillRow; row: AgentSkillVersionRow }> {
  const skill = await agentSkillStore.find(db, tenantId, skillId);
  if (skill === undefined) throw notFound("skill");
  const row = /^[1-9]\d{0,8}$/.test(version) ? await skillVersion(db, skillId, Number(version)) : undefined;
  if (row === undefined) throw notFound("version of the skill");
  return { skill, row };
}

export async function readSkillVersion(
  db: Database | Trx,
  tenantId: string,
  skillId: string,
  version: string,
): Promise<AgentSkillVersionWithFiles> {
  const { skill, row } = await foundVersion(db, tenantId, skillId, version);
  return {
    ...versionRead(row, skill.published_version),
    frontmatter: row.frontmatter,
    warnings: row.warnings,
    files: await skillFileFacts(db, skillId, row.version),
  };
}

/** Makes this the served version; it may be an earlier one. */
export async function publishSkillVersion(write: Write, tenantId: string, skillId: string, version: string): Promise<AgentSkill> {
  const before = await agentSkillStore.find(write.trx, tenantId, skillId, "lock");
  const { row } = await foundVersion(write.trx, tenantId, skillId, version);
  if (before === undefined) throw notFound("skill");
  write.stay({ version: before.published_version }, { version: row.version }, read(before));
  await markPublished(write.trx, skillId, row.version, write.now);
  await agentSkillStore.update(write.trx, skillId, { published_version: row.version, description: row.description, updated_at: write.now });
  write.log({
    tenant_id: tenantId,
    action: "publish",
    resource: AGENT_SKILLS,
    resource_id: skillId,
    before: { published_version: before.published_version },
    after: { published_version: row.version, digest: row.digest },
  });
  write.notify(tenantId, "policy");
  const after = await agentSkillStore.find(write.trx, tenantId, skillId);
  if (after === undefined) throw notFound("skill");
  return read(after);
}

/** Logs that an administrator runs a script of a version, before it runs. Returns the version. */
export async function recordTrial(
  write: Write,
  tenantId: string,
  skillId: string,
  version: string,
  scriptCall: { readonly script: string; readonly argsSha256: string },
): Promise<{ readonly tenantId: string; readonly id: string; readonly version: number; readonly digest: string }> {
  const { row } = await foundVersion(write.trx, tenantId, skillId, version);
  write.log({
    tenant_id: tenantId,
    action: "try_script",
    resource: AGENT_SKILLS,
    resource_id: skillId,
    after: { version: row.version, digest: row.digest, script: scriptCall.script, args_sha256: scriptCall.argsSha256 },
  });
  return { tenantId, id: skillId, version: row.version, digest: row.digest };
}

/** The files of a version as a ZIP, byte-identical every time. */
export async function exportSkillVersion(
  db: Database,
  tenantId: string,
  skillId: string,
  version: string,
  layout: "root" | "folder",
): Promise<{ readonly archive: Uint8Array; readonly fileName: string }> {
  const { skill, row } = await foundVersion(db, tenantId, skillId, version);
  const files = await skillFiles(db, skillId, row.version);
  // Headers are limited to ASCII, but a name may be in any script.
  const slug = /^[a-z0-9-]+$/.test(skill.name) ? skill.name : skill.id;
  return { archive: await writeSkillZip(files, layout === "folder" ? skill.name : null), fileName: `${slug}-${row.version}.zip` };
}
