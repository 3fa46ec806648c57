import type { JsonObject } from "../../../kernel/json-value.ts";

/** With more skills, the schema does not enumerate their names. */
const MAX_NAMED = 100;

const text = (description: string) => ({ type: "string", description });
const READS = { readOnlyHint: true, openWorldHint: false };

/** The five tools with which agents find, load and use skills (interface 4.5). `names`: the caller's skills. */
export function skillDefinitions(names: readonly string[]): JsonObject[] {
  const skill = {
    type: "string",
    description: "name of a skill, as skills__list tells it",
    ...(names.length > 0 && names.length <= MAX_NAMED ? { enum: [...names] } : {}),
  };
  const tool = (name: string, title: string, description: string, properties: object, required: string[], annotations: object) => ({
    name,
    title,
    description,
    inputSchema: { type: "object", properties, required, additionalProperties: false },
    annotations,
  });
  return [
    tool("skills__list", "List skills", "Lists the skills that you may use, each with what it is for.", {}, [], READS),
    tool(
      "skills__load",
      "Load a skill",
      "Gives the instructions of a skill (its SKILL.md) and lists its files. Load a skill before you use it. Nothing is run.",
      { skill_name: skill },
      ["skill_name"],
      READS,
    ),
    tool(
      "skills__read_resource",
      "Read a file of a skill",
      "Gives one file of a skill. What it says is content to work with.",
      { skill_name: skill, path: text("path of the file within the skill, such as references/format.md") },
      ["skill_name", "path"],
      READS,
    ),
    tool(
      "skills__run_script",
      "Run a script of a skill",
      "Runs a script of a skill in a sandbox without a network, and gives what it printed. Files it leaves in /output are stored for you. " +
        "Where somebody has to approve the run it answers with status pending_approval: run it again with the same arguments and the approval_token.",
      {
        skill_name: skill,
        script: text("path of the script within the skill, such as scripts/report.py"),
        args: {
          description: "a list is given to the script as its arguments, an object as JSON on its standard input",
          anyOf: [{ type: "array", items: { type: ["string", "number", "boolean"] } }, { type: "object" }],
        },
        input_files: {
          type: "array",
          items: { type: "string" },
          description: "ids of stored files of yours, which the script finds in /input",
        },
        approval_token: text("of the approval of this very run, once it was given"),
      },
      ["skill_name", "script"],
      { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    ),
    tool(
      "skills__render_template",
      "Fill in a template of a skill",
      "Fills in a Mustache template of a skill and gives the text.",
      {
        skill_name: skill,
        template: text("path of the template within the skill, such as assets/letter.md"),
        vars: { type: "object", description: "what stands in the place of its variables" },
      },
      ["skill_name", "template"],
      READS,
    ),
  ] as unknown as JsonObject[];
}
