import Mustache from "mustache";
import { type Refusal, refuse } from "../../../kernel/errors.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";

const MAX_TEMPLATE_LENGTH = 256 * 1024;
const MAX_TEXT_LENGTH = 1024 * 1024;
/** Template tokens rendered, which nested lists multiply. */
const MAX_STEPS = 200_000;
/** Characters of names, each counted once for every section in which it may be looked up. */
const MAX_LOOKUP_WORK = 5_000_000;
/** Consecutive whitespace: the parser searches for the end of a tag again from each position. */
const MAX_BLANKS = 1_000;

class TooMuch extends Error {}

/** Renders within limits, because a template can expand a small input to any size. */
class BoundedWriter extends Mustache.Writer {
  private steps = 0;
  private length = 0;
  private depth = 0;
  private lookups = 0;

  override renderTokens(...given: Parameters<Mustache["renderTokens"]>): string {
    const [tokens] = given;
    this.steps += 1 + tokens.length;
    if (this.steps > MAX_STEPS) throw new TooMuch("more than 200,000 parts are filled in");
    this.depth++;
    for (const [kind, name = ""] of tokens) if (kind !== "text") this.lookups += this.depth * name.length;
    if (this.lookups > MAX_LOOKUP_WORK) throw new TooMuch("its names are too long, or in too many sections within sections");
    const text = super.renderTokens(...given);
    this.depth--;
    this.length += text.length;
    if (this.length > 4 * MAX_TEXT_LENGTH || text.length > MAX_TEXT_LENGTH)
      throw new TooMuch("the text has more than a million characters");
    return text;
  }
}
type Mustache = InstanceType<typeof Mustache.Writer>;

/** Renders a Mustache template without escaping. Templates contain no code and can read nothing but `vars`. */
export function renderTemplate(template: string, vars: JsonObject): string | Refusal {
  if (template.length > MAX_TEMPLATE_LENGTH) return refuse("skill_template_failed", "The template is larger than 256 KiB.");
  for (const [blanks] of template.matchAll(/\s+/g))
    if (blanks.length > MAX_BLANKS) return refuse("skill_template_failed", "The template has more than 1,000 blanks in a row.");
  try {
    // Partials are not supported; each template stands alone.
    return new BoundedWriter().render(template, vars, undefined, { escape: String });
  } catch (error) {
    const why = error instanceof TooMuch || error instanceof Error ? error.message.slice(0, 300) : "it is not valid";
    return refuse("skill_template_failed", `The template could not be filled in: ${why}.`);
  }
}
