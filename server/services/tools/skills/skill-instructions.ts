import type { SkillEntry } from "../../../directory/skills/skill-entry.ts";
import type { Call } from "../../../road/call.ts";
import { addTag } from "../../../road/record/add-tag.ts";
import type { TextSlot } from "../../../wire/inbound.ts";
import type { ToolParts } from "../tool-parts.ts";
import { PREAMBLE } from "./skill-content.ts";

/** In characters. Of a longer catalogue agents have to request the list. */
const MAX_CATALOGUE_LENGTH = 30_000;

interface DescribedSkill {
  readonly name: string;
  description: string;
}

/**
 * Instructions for a connecting client: how skills are used, and the caller's skills. If a guardrail blocks the descriptions, only names
 * are listed, so that the client can still connect.
 */
export async function instructionsFor(call: Call, skills: readonly SkillEntry[], { gates }: Pick<ToolParts, "gates">): Promise<string> {
  const described = skills.map(({ name, description }) => ({ name, description: description.replace(/\s+/g, " ") }));
  if (!gates.inspects(call, "skill_output")) return catalogueOf(described);
  const refusal = await gates.inspect(call, "skill_output", described.map(descriptionSlot));
  if (refusal === null) return catalogueOf(described);
  addTag(call, "answer_withheld");
  return catalogueOf(described.map(({ name }) => ({ name, description: "" })));
}

function descriptionSlot(skill: DescribedSkill): TextSlot {
  return { role: "tool", kind: "text", text: skill.description, replace: (text) => void (skill.description = text) };
}

function catalogueOf(skills: readonly DescribedSkill[]): string {
  if (skills.length === 0) return `${PREAMBLE}\n\nYou have no skills.`;
  let instructions = `${PREAMBLE}\n\nYour skills:`;
  for (const [index, { name, description }] of skills.entries()) {
    const line = `\n- ${name}${description === "" ? "" : `: ${description}`}`;
    if (instructions.length + line.length > MAX_CATALOGUE_LENGTH)
      return `${instructions}\n- and ${skills.length - index} more: call skills__list`;
    instructions += line;
  }
  return instructions;
}
