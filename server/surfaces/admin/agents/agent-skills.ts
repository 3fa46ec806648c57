import {
  agentSkill,
  agentSkillImport,
  agentSkillQuery,
  agentSkillTrial,
  agentSkillTrialRequest,
  agentSkillUpdate,
  agentSkillVersion,
  agentSkillVersionQuery,
  agentSkillVersionWithFiles,
  skillExportQuery,
  skillImportQuery,
} from "@gatehouse/contracts/agent-skills";
import { listOf } from "@gatehouse/contracts/conventions";
import {
  agentSkills,
  exportSkillVersion,
  listSkillVersions,
  publishSkillVersion,
  readSkillVersion,
  recordTrial,
} from "../../../directory/skills/agent-skills.ts";
import { importSkill } from "../../../directory/skills/import-skill.ts";
import { isRefusal, Refused } from "../../../kernel/errors.ts";
import { sha256Hex } from "../../../kernel/secrets.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, listed } from "../resource.ts";
import { uploadedSkill } from "../tools/skill-upload.ts";

const PATH = "/v1/admin/agent-skills";
const ONE = `${PATH}/{id}`;
const VERSION = `${ONE}/versions/{version}`;
const reading = { tag: "Skills", access: "skills:read", reach: "one" } as const;
const writing = { tag: "Skills", access: "skills:write", reach: "one" } as const;
const one = { subject: "agent_skills", textParams: ["id"] } as const;
const ofVersion = { subject: "agent_skills", textParams: ["id", "version"] } as const;

const versionOf = ({ params }: { readonly params: Readonly<Record<string, string>> }) => params.version ?? "";

export const agentSkillOperations: readonly AdminOperation[] = [
  operation({
    ...reading,
    method: "GET",
    path: PATH,
    summary: "List skills",
    query: agentSkillQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("agent_skills", agentSkill) },
    run: (call) => listed("agent_skills", call, (page) => agentSkills.list(call.services.directory, call.tenantId, call.query, page)),
  }),
  operation({
    ...writing,
    method: "POST",
    path: `${PATH}/import`,
    summary: "Import a skill",
    description:
      "A ZIP as the form's `file` or as an application/zip body, with SKILL.md at its root or in the one folder there; or JSON, " +
      "`{files: [{path, content | content_base64, executable}]}`; or a Git bundle in the place of the ZIP, of whose folder `path` is taken, " +
      "as the branch or tag `ref` has it. It becomes the next version of the skill of its name, or a new skill, " +
      "and is served once it is published and granted. The same files again are the version there is. At most 512 files and 16 MiB.",
    upload: "file",
    query: skillImportQuery,
    answer: { status: 200, about: "The skill and the version", schema: agentSkillImport },
    async run(call) {
      const bundle = await uploadedSkill(call.request, call.query, call.services.gitBundles);
      return call.write((write) => importSkill(write, call.tenantId, bundle));
    },
  }),
  operation({
    ...reading,
    ...one,
    method: "GET",
    path: ONE,
    summary: "Read a skill",
    answer: { status: 200, about: "The record", schema: agentSkill },
    run: (call) => agentSkills.get(call.services.directory, call.tenantId, idOf(call)),
  }),
  operation({
    ...writing,
    ...one,
    method: "PATCH",
    path: ONE,
    summary: "Change a skill",
    description: "Members left out of the body stay unchanged.",
    body: agentSkillUpdate,
    answer: { status: 200, about: "The record as it is now", schema: agentSkill },
    run: (call) => call.write((write) => agentSkills.update(write, call.tenantId, idOf(call), call.body)),
  }),
  operation({
    ...writing,
    ...one,
    method: "DELETE",
    path: ONE,
    summary: "Delete a skill",
    description: "With its versions and grants.",
    answer: { status: 204, about: "Gone" },
    run: (call) => call.write((write) => agentSkills.remove(write, call.tenantId, idOf(call))),
  }),
  operation({
    ...reading,
    ...one,
    method: "GET",
    path: `${ONE}/versions`,
    summary: "List versions of a skill",
    description: "The newest first.",
    query: agentSkillVersionQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("versions", agentSkillVersion) },
    run: (call) => listed("versions", call, (page) => listSkillVersions(call.services.directory, call.tenantId, idOf(call), page)),
  }),
  operation({
    ...reading,
    ...ofVersion,
    method: "GET",
    path: VERSION,
    summary: "Read a version of a skill",
    answer: { status: 200, about: "The version with its files", schema: agentSkillVersionWithFiles },
    run: (call) => readSkillVersion(call.services.directory.db, call.tenantId, idOf(call), versionOf(call)),
  }),
  operation({
    ...writing,
    ...ofVersion,
    method: "POST",
    path: `${VERSION}/publish`,
    summary: "Publish a version of a skill",
    description: "It replaces the version that is served. Versions never change; to go back, publish an earlier one.",
    answer: { status: 200, about: "The skill as it is now", schema: agentSkill },
    run: (call) => call.write((write) => publishSkillVersion(write, call.tenantId, idOf(call), versionOf(call))),
  }),
  operation({
    ...writing,
    ...ofVersion,
    method: "POST",
    path: `${VERSION}/try`,
    summary: "Run a script of a version to see what it does",
    description:
      "In the same sandbox as calls, published or not, without any files and without an approval. The admin log records the trial; " +
      "the output is returned and not stored.",
    body: agentSkillTrialRequest,
    answer: { status: 200, about: "What it came to", schema: agentSkillTrial },
    async run(call) {
      const { script, args, stdin } = call.body;
      const scriptCall = { script, argsSha256: sha256Hex(JSON.stringify([args ?? [], stdin ?? ""])) };
      const tried = await call.write((write) => recordTrial(write, call.tenantId, idOf(call), versionOf(call), scriptCall));
      const trial = await call.services.tryScript(tried, call.body, call.request.signal);
      if (isRefusal(trial)) throw new Refused(trial);
      return trial;
    },
  }),
  operation({
    ...reading,
    ...ofVersion,
    method: "GET",
    path: `${VERSION}/export`,
    summary: "Export a version of a skill",
    description: "The same bytes each time.",
    query: skillExportQuery,
    answer: { status: 200, about: "A ZIP", media: "application/zip" },
    async run(call) {
      const { db } = call.services.directory;
      const { archive, fileName } = await exportSkillVersion(db, call.tenantId, idOf(call), versionOf(call), call.query.layout ?? "root");
      return new Response(new Uint8Array(archive), {
        headers: {
          "content-type": "application/zip",
          "content-disposition": `attachment; filename="${fileName}"`,
          "cache-control": "no-store",
          "x-content-type-options": "nosniff",
        },
      });
    },
  }),
];
