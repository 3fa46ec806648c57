import type { ServedSkill } from "../../../directory/skills/served-skills.ts";
import { grantedSkills, type SkillEntry } from "../../../directory/skills/skill-entry.ts";
import { parsedExactly } from "../../../kernel/text/exact-numbers.ts";
import { ulid } from "../../../kernel/ids.ts";
import { isRefusal, type Refusal, refuse } from "../../../kernel/errors.ts";
import type { Call } from "../../../road/call.ts";
import { isObject, type JsonObject } from "../../../kernel/json-value.ts";
import { memberText } from "../../../wire/mcp/rpc.ts";
import { digestOf } from "../../../wire/mcp/tool-definitions.ts";
import { skillUri } from "../../../wire/mcp/skill-uri.ts";
import { SKILL_DOCUMENT } from "../../../directory/skills/skill-file.ts";
import { renderTemplate } from "./render-template.ts";
import { runScript } from "./run-script.ts";
import { scriptCallOf } from "./script-call.ts";
import { departedForSkill, skillActionRefusal, type SkillToolCall } from "./skill-action.ts";
import { contentBlock, manifestOf, PREAMBLE, resourceOf, utf8Text } from "./skill-content.ts";
import { skillDefinitions } from "./skill-definitions.ts";

const LEGACY = "skill__";

/** The result of one of the five tools. */
export async function callSkillTool(call: Call, toolCall: SkillToolCall): Promise<JsonObject | Refusal> {
  const { route, message } = toolCall;
  const name = route.capability?.name ?? "";
  const given = message.params.arguments ?? {};
  if (!isObject(given)) return refuse("skill_arguments_invalid", "arguments must be an object.");
  noteDefinition(call, name);
  if (name === "skills__list") return departedForSkill(call, toolCall, "") ?? listOf(call);
  // `skill__` is an old name for loading a skill, which is no longer listed.
  const loads = name === "skills__load" || name.startsWith(LEGACY);
  const wrong = loads ? null : unknownArgument(name, given);
  if (wrong !== null) return refuse("skill_arguments_invalid", wrong);
  const { skill: entry } = route;
  if (entry == null)
    return loads || name in TOOL_ARGUMENTS
      ? refuse("skill_arguments_invalid", "skill_name must be a text.")
      : refuse("tool_not_allowed", "There is no such tool.");
  const skill = await toolCall.parts.skills.served.of(entry);
  const found: Found = { entry, skill, given };
  if (loads) return departedForSkill(call, toolCall, entry.name) ?? loaded(found);
  switch (name) {
    case "skills__read_resource":
      return readResource(call, toolCall, found);
    case "skills__render_template":
      return rendered(call, toolCall, found);
    case "skills__run_script":
      return ran(call, toolCall, found);
    default:
      return refuse("tool_not_allowed", "There is no such tool.");
  }
}

interface Found {
  readonly entry: SkillEntry;
  readonly skill: ServedSkill;
  readonly given: JsonObject;
}

const TOOL_ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  skills__read_resource: ["skill_name", "path"],
  skills__render_template: ["skill_name", "template", "vars"],
  skills__run_script: ["skill_name", "script", "args", "input_files"],
};

function unknownArgument(name: string, given: JsonObject): string | null {
  const known = TOOL_ARGUMENTS[name];
  const unknown = known === undefined ? undefined : Object.keys(given).find((argument) => !known.includes(argument));
  return unknown === undefined ? null : `${unknown.slice(0, 100)} is no argument of this tool.`;
}

/** JSON text of the current arguments. */
function argumentsText({ document }: SkillToolCall["message"]): string {
  return memberText(document.memberText("params") ?? "{}", "arguments") ?? "{}";
}

const definitions = new Map(skillDefinitions([]).map((definition) => [String(definition.name), digestOf(definition)]));

function noteDefinition({ row }: Call, name: string): void {
  row.tool_definition_hash = definitions.get(name) ?? null;
}

function listOf(call: Call): JsonObject {
  const skills = call.scope === null ? [] : grantedSkills(call.scope, call.identity?.skillIds);
  const list = { skills: skills.map(({ name, description }) => ({ name, description })) };
  return { content: [{ type: "text", text: JSON.stringify(list) }], structuredContent: list, isError: false };
}

function loaded({ entry, skill }: Found): JsonObject {
  const { name, version, description } = entry;
  const document = utf8Text(skill.document) ?? "";
  const facts = { skill: { name, version: String(version), description }, manifest: manifestOf(skill) };
  return {
    content: [
      { type: "text", text: `${PREAMBLE}\n\n${document}` },
      { type: "text", text: JSON.stringify(facts) },
    ],
    isError: false,
  };
}

async function readResource(call: Call, toolCall: SkillToolCall, { entry, skill, given }: Found): Promise<JsonObject | Refusal> {
  const { path } = given;
  if (typeof path !== "string") return refuse("skill_arguments_invalid", "path must be a text.");
  const file = skill.files.get(path);
  if (file === undefined) return refuse("skill_file_not_found");
  const refusal = await skillActionRefusal(call, toolCall, entry, false);
  if (refusal !== null) return refusal;
  const left = departedForSkill(call, toolCall, entry.name);
  if (left !== null) return left;
  const text = utf8Text(file.content);
  const uri = skillUri(call.scope?.tenant.id ?? "", entry.name, path);
  const block = text === null ? { type: "resource", resource: resourceOf(uri, path, file) } : contentBlock(text);
  return { content: [block], isError: false };
}

async function rendered(call: Call, toolCall: SkillToolCall, { entry, skill, given }: Found): Promise<JsonObject | Refusal> {
  const { template, vars = {} } = given;
  if (typeof template !== "string") return refuse("skill_arguments_invalid", "template must be a text.");
  if (!isObject(vars)) return refuse("skill_arguments_invalid", "vars must be an object.");
  const file = template === SKILL_DOCUMENT || template.startsWith("scripts/") ? undefined : skill.files.get(template);
  const source = file === undefined ? null : utf8Text(file.content);
  if (source === null) return refuse("skill_file_not_found", "The skill has no such template.");
  const refusal = await skillActionRefusal(call, toolCall, entry, false);
  if (refusal !== null) return refusal;
  const left = departedForSkill(call, toolCall, entry.name);
  if (left !== null) return left;
  const written = memberText(argumentsText(toolCall.message), "vars");
  const text = renderTemplate(source, written === null ? vars : (parsedExactly(written, (digits) => digits) as JsonObject));
  return typeof text !== "string" ? text : { content: [contentBlock(text)], isError: false };
}

async function ran(call: Call, toolCall: SkillToolCall, { entry, skill, given }: Found): Promise<JsonObject | Refusal> {
  const script = scriptCallOf(given, argumentsText(toolCall.message));
  if (isRefusal(script)) return script;
  if (!skill.files.has(script.script)) return refuse("skill_file_not_found", "The skill has no such script.");
  call.row.skill_execution_id = `skillrun-${ulid()}`;
  const refusal = await skillActionRefusal(
    call,
    toolCall,
    entry,
    entry.approvalRequired.has("*") || entry.approvalRequired.has(script.script),
  );
  if (refusal !== null) return refusal;
  const terms = {
    entry,
    skill,
    asked: script,
    deadlineMs: toolCall.target.server.timeoutMs,
    gates: toolCall.parts.gates,
    depart: () => departedForSkill(call, toolCall, entry.name),
  };
  return runScript(call, terms, toolCall.parts.skills);
}
