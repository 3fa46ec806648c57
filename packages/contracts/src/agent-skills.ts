import { z } from "zod";
import { pageQuery, recordId, search, timestamp } from "./conventions.ts";

const skillId = z.string().min(1).max(63);
const scriptPath = z.string().regex(/^(?:\*|scripts\/[^\0]{1,247})$/, "must be * or the path of a script, such as scripts/report.py");

export const agentSkillUpdate = z
  .strictObject({
    enabled: z.boolean().optional(),
    allow_local_export: z.boolean().optional().describe("whether people who may use it may download it from the portal as a ZIP"),
    approval_required_scripts: z.array(scriptPath).max(512).optional().describe("scripts whose runs need approval; * means all"),
  })
  .meta({ id: "AgentSkillUpdate" });

export const agentSkill = z
  .strictObject({
    id: z.string(),
    tenant_id: z.string(),
    name: z.string(),
    description: z.string().describe("of the published version, or of the first if none is published"),
    enabled: z.boolean(),
    allow_local_export: z.boolean(),
    approval_required_scripts: z.array(z.string()),
    published_version: z.number().int().nullable().describe("the version that is served; null until one is published"),
    latest_version: z.number().int(),
    execution_count: z.number().int().describe("number of script runs"),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "AgentSkill" });

const skillFile = z.strictObject({
  path: z.string(),
  digest: z.string().describe("sha256: and 64 hex digits"),
  size: z.number().int(),
  executable: z.boolean(),
});

const versionFacts = {
  skill_id: z.string(),
  version: z.number().int(),
  digest: z.string().describe("over all files, their paths and which are executable"),
  description: z.string(),
  file_count: z.number().int(),
  size_bytes: z.number().int(),
  published: z.boolean().describe("whether it is the version that is served"),
  published_at: timestamp.nullable().describe("when it last became the one that is served"),
  created_at: timestamp,
};

export const agentSkillVersion = z.strictObject(versionFacts).meta({ id: "AgentSkillVersion" });

export const agentSkillVersionWithFiles = z
  .strictObject({
    ...versionFacts,
    frontmatter: z.record(z.string(), z.unknown()).describe("of SKILL.md, every value as written"),
    warnings: z.array(z.string()).describe("what other hosts may not accept"),
    files: z.array(skillFile),
  })
  .meta({ id: "AgentSkillVersionWithFiles" });

export const agentSkillImport = z
  .strictObject({
    skill: agentSkill,
    version: agentSkillVersionWithFiles,
    created: z.boolean().describe("false: the skill already had a version with these exact files, which is returned"),
  })
  .meta({ id: "AgentSkillImport" });

/** A skill import as JSON instead of a ZIP archive. */
export const agentSkillFiles = z.strictObject({
  files: z
    .array(
      z
        .strictObject({
          path: z.string().max(1000),
          content: z.string().optional(),
          content_base64: z.base64().optional(),
          executable: z.boolean().optional(),
        })
        .refine(({ content, content_base64: encoded }) => (content === undefined) !== (encoded === undefined), {
          path: ["content"],
          message: "is required, or content_base64 in its place",
        }),
    )
    .min(1)
    .max(512),
});

export const agentSkillQuery = z.strictObject({ ...pageQuery.shape, search });
export const agentSkillVersionQuery = z.strictObject({ ...pageQuery.shape });
export const agentSkillTrialRequest = z
  .strictObject({
    script: z.string().min(1).max(500).describe("a file of the version in scripts/"),
    args: z.array(z.string().max(10_000)).max(256).optional(),
    stdin: z.string().max(1_000_000).optional(),
    timeout_seconds: z.number().int().min(1).max(60).optional().describe("default: 30"),
  })
  .meta({ id: "AgentSkillTrialRequest" });

export const agentSkillTrial = z
  .strictObject({
    script: z.string(),
    version: z.number().int(),
    end: z.enum(["exited", "deadline", "output_too_large", "aborted"]).describe("why it has ended"),
    exit_code: z.number().int().nullable(),
    stdout: z.string().describe("at most 100,000 characters, as the next"),
    stderr: z.string(),
    files: z.array(z.strictObject({ name: z.string(), size: z.number().int() })).describe("files it left in /output, which are not kept"),
    duration_ms: z.number(),
    sandbox: z.string(),
  })
  .meta({ id: "AgentSkillTrial" });

export const skillImportQuery = z.strictObject({
  path: z.string().min(1).max(500).optional().describe("of a Git bundle: the repository folder that contains the skill; default: its root"),
  ref: z.string().min(1).max(200).optional().describe("of a Git bundle: the branch or tag; default: its head"),
});

export const skillExportQuery = z.strictObject({
  layout: z.enum(["root", "folder"]).optional().describe("folder: everything in one folder named after the skill; default: root"),
});

const skillIds = z.array(skillId).min(1).max(1000);
export const groupSkillIds = z.strictObject({ skill_ids: skillIds }).meta({ id: "GroupSkillIds" });
export const maybeGroupSkillIds = z.strictObject({ skill_ids: skillIds.optional() });
export const groupSkillIdsQuery = z.strictObject({
  skill_ids: z.string().max(40_000).optional().describe("comma list, instead of a body"),
});

export const skillBindingResult = z
  .strictObject({ bound: z.array(z.string()).describe("bound now"), already_bound: z.array(z.string()) })
  .meta({ id: "SkillBindingResult" });
export const skillUnbindingResult = z
  .strictObject({ unbound: z.array(z.string()).describe("unbound now"), not_bound: z.array(z.string()) })
  .meta({ id: "SkillUnbindingResult" });

export const groupSkill = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    enabled: z.boolean(),
    published_version: z.number().int().nullable(),
    inherited: z.boolean().describe("false: granted to this group itself"),
    bound_group_id: recordId.describe("the group with the grant: this one or the nearest above from which it is inherited"),
    bound_group_name: z.string(),
  })
  .meta({ id: "GroupSkill" });

export const skillGroup = z
  .strictObject({
    id: recordId,
    name: z.string(),
    inherited: z.boolean().describe("false: granted to this group itself"),
    bound_group_id: recordId.describe("the group with the grant: this one or the nearest above from which it is inherited"),
    bound_group_name: z.string(),
  })
  .meta({ id: "SkillGroup" });

export const skillGroupQuery = z.strictObject({ ...pageQuery.shape });
export const groupSkillQuery = z.strictObject({ ...pageQuery.shape });

export type AgentSkill = z.output<typeof agentSkill>;
export type AgentSkillUpdate = z.output<typeof agentSkillUpdate>;
export type AgentSkillQuery = z.output<typeof agentSkillQuery>;
export type AgentSkillVersion = z.output<typeof agentSkillVersion>;
export type AgentSkillVersionWithFiles = z.output<typeof agentSkillVersionWithFiles>;
export type AgentSkillImport = z.output<typeof agentSkillImport>;
export type SkillGroup = z.output<typeof skillGroup>;
export type GroupSkill = z.output<typeof groupSkill>;
export type AgentSkillTrialRequest = z.output<typeof agentSkillTrialRequest>;
export type AgentSkillTrial = z.output<typeof agentSkillTrial>;
