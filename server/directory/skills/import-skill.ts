import type { AgentSkillImport } from "@gatehouse/contracts/agent-skills";
import { agentSkillIdByName, agentSkillStore, insertSkillVersion, versionOfDigest } from "../../store/agents/agent-skills.ts";
import { lockName } from "../../store/connections/named-lock.ts";
import { sha256, type SkillBundle } from "./skill-bundle.ts";
import { notFound } from "../writes/records.ts";
import type { Write } from "../writes/write.ts";
import { AGENT_SKILLS, agentSkills, readSkillVersion } from "./agent-skills.ts";

/**
 * Stores a skill as the next version of the one with its name, or as a new skill. Importing identical files returns the
 * existing version.
 */
export async function importSkill(write: Write, tenantId: string, { document, files, digest }: SkillBundle): Promise<AgentSkillImport> {
  const { name, description } = document;
  await lockName(write.trx, `agent_skills/${tenantId}/${name}`);
  const id = (await agentSkillIdByName(write.trx, tenantId, name)) ?? (await agentSkills.create(write, tenantId, { name, description })).id;
  const skill = await agentSkillStore.find(write.trx, tenantId, id, "lock");
  if (skill === undefined) throw notFound("skill");
  const importResult = async (version: number, created: boolean): Promise<AgentSkillImport> => ({
    skill: await agentSkills.get({ ...write.directory, db: write.trx }, tenantId, id),
    version: await readSkillVersion(write.trx, tenantId, id, String(version)),
    created,
  });
  const same = await versionOfDigest(write.trx, id, digest);
  if (same !== undefined) {
    const answer = await importResult(same, false);
    write.stay({}, {}, answer);
    return answer;
  }
  const version = (skill.latest_version ?? 0) + 1;
  const size = files.reduce((sum, { content }) => sum + content.byteLength, 0);
  await insertSkillVersion(
    write.trx,
    {
      skill_id: id,
      version,
      digest,
      description,
      frontmatter: JSON.stringify(document.frontmatter),
      warnings: [...document.warnings],
      file_count: files.length,
      size_bytes: size,
      created_at: write.now,
    },
    files.map(({ path, content, executable }) => ({
      skill_id: id,
      version,
      path,
      digest: sha256(content),
      executable,
      content: Buffer.from(content),
    })),
  );
  write.log({
    tenant_id: tenantId,
    action: "import",
    resource: AGENT_SKILLS,
    resource_id: id,
    after: { name, version, digest, files: files.length, size_bytes: size },
  });
  return importResult(version, true);
}
