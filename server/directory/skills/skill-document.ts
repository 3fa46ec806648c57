import { LineCounter, parseDocument } from "yaml";
import { isObject } from "../../kernel/json-value.ts";
import { isStorableText } from "../../kernel/text/storable.ts";
import { InvalidSkill, SKILL_DOCUMENT, type SkillFault } from "./skill-file.ts";

/** The parsed frontmatter of a SKILL.md. */
export interface SkillDocument {
  readonly name: string;
  readonly description: string;
  /** The whole frontmatter, with every value as text. */
  readonly frontmatter: Readonly<Record<string, unknown>>;
  /** Possible problems on other hosts. */
  readonly warnings: readonly string[];
}

const MAX_FRONTMATTER = 16 * 1024;
const ADVISED_LINES = 500;
const OPENING = /^---[ \t]*\r?\n/;
const CLOSING = /^---[ \t]*\r?$/m;
const KNOWN = new Set(["name", "description", "license", "compatibility", "metadata", "allowed-tools"]);
// Lower-case letters, and letters of scripts without case, as the reference implementation accepts names.
const NAME = /^[\p{Ll}\p{Lo}\p{N}]+(?:-[\p{Ll}\p{Lo}\p{N}]+)*$/u;
const ASCII_NAME = /^[a-z0-9-]+$/;

/** Parses a SKILL.md. Throws `InvalidSkill` with the line and the rule. */
export function readSkillDocument(content: Uint8Array): SkillDocument {
  const text = textOf(content);
  const opening = OPENING.exec(text)?.[0];
  if (opening === undefined) throw invalid(1, "must begin with a line --- and YAML between it and a second one");
  const rest = text.slice(opening.length);
  const end = CLOSING.exec(rest);
  if (end === null) throw invalid(1, "has no second line --- that ends its frontmatter");
  const yaml = rest.slice(0, end.index);
  if (yaml.length > MAX_FRONTMATTER) throw invalid(1, `has a frontmatter of more than ${MAX_FRONTMATTER / 1024} KiB`);
  const { value, lineOf } = readYaml(yaml);
  const faults: SkillFault[] = [];
  const fault = (key: string, message: string) => faults.push(faultAt(lineOf(key), `${key}: ${message}`));
  const name = value.name;
  if (name === undefined) fault("name", "is required");
  else if (typeof name !== "string") fault("name", "must be a text");
  else if (length(name) < 1 || length(name) > 64 || !NAME.test(name.normalize("NFKC")))
    fault("name", "must be 1 to 64 lower-case letters, digits and single hyphens, with none at either end");
  const description = value.description;
  if (description === undefined) fault("description", "is required");
  else if (typeof description !== "string" || description.trim() === "" || length(description) > 1024)
    fault("description", "must be a text of 1 to 1024 characters");
  for (const key of ["license", "allowed-tools"])
    if (value[key] !== undefined && typeof value[key] !== "string") fault(key, "must be a text");
  const { compatibility, metadata } = value;
  if (compatibility !== undefined && (typeof compatibility !== "string" || length(compatibility) < 1 || length(compatibility) > 500))
    fault("compatibility", "must be a text of 1 to 500 characters");
  if (metadata !== undefined && !isTexts(metadata)) fault("metadata", "must be a map of texts");
  if (faults.length > 0) throw new InvalidSkill(faults);
  const warnings = [
    ...Object.keys(value)
      .filter((key) => !KNOWN.has(key))
      .map((key) => `${SKILL_DOCUMENT}:${lineOf(key)} ${key}: is no field of the format; it is kept as it is`),
    ...(ASCII_NAME.test(name as string) ? [] : [`${SKILL_DOCUMENT}:${lineOf("name")} name: other hosts take a-z, 0-9 and hyphens only`]),
    ...(text.split("\n").length > ADVISED_LINES ? [`${SKILL_DOCUMENT} has more than the ${ADVISED_LINES} lines the format advises`] : []),
  ];
  return { name: (name as string).normalize("NFKC"), description: description as string, frontmatter: value, warnings };
}

function textOf(content: Uint8Array): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(content);
    if (isStorableText(text)) return text;
  } catch {
    // Reported below, like a NUL.
  }
  throw invalid(1, "must be UTF-8 text");
}

/** Parses the frontmatter as a map of texts. Anchors are not part of the format, and could be used to multiply content. */
function readYaml(yaml: string): { value: Record<string, unknown>; lineOf: (key: string) => number } {
  const lines = new LineCounter();
  // Line 1 of the file is the opening `---`.
  const lineAt = (offset: number) => lines.linePos(offset).line + 1;
  try {
    const document = parseDocument(yaml, { schema: "failsafe", lineCounter: lines, prettyErrors: false });
    const [error] = document.errors;
    if (error !== undefined) throw invalid(lineAt(error.pos[0]), `is no YAML: ${error.message}`);
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    if (!isObject(value)) throw invalid(2, "must be YAML fields, such as name: my-skill");
    const lineOf = (key: string) => {
      const found = new RegExp(`^["']?${key.replaceAll(/[^\w-]/g, String.raw`\$&`)}["']?[ \\t]*:`, "m").exec(yaml);
      return found === null ? 1 : lineAt(found.index);
    };
    return { value: value as Record<string, unknown>, lineOf };
  } catch (error) {
    if (error instanceof InvalidSkill) throw error;
    throw invalid(1, "has a frontmatter that cannot be read: it is nested too deep, or repeats parts of itself");
  }
}

const length = (text: string) => [...text].length;

const isTexts = (value: unknown) => isObject(value) && Object.values(value).every((one) => typeof one === "string");

const faultAt = (line: number, message: string): SkillFault => ({ field: `${SKILL_DOCUMENT}:${line}`, message });

const invalid = (line: number, message: string) => new InvalidSkill([faultAt(line, message)]);
