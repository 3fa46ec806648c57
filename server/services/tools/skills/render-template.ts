import Mustache from "mustache";
import { type Refusal, refuse } from "../../../kernel/errors.ts";
import type { JsonObject } from "../../../wire/document.ts";

const LONGEST_TEMPLATE = 256 * 1024;
const LONGEST_TEXT = 1024 * 1024;
/** Parts of the template looked at: lists within lists multiply them. */
const MOST_STEPS = 200_000;

class TooMuch extends Error {}

/** Renders within bounds: of what it is given a template can make any amount. */
class BoundedWriter extends Mustache.Writer {
  private steps = 0;
  private length = 0;

  override renderTokens(...given: Parameters<Mustache["renderTokens"]>): string {
    this.steps += 1 + given[0].length;
    if (this.steps > MOST_STEPS) throw new TooMuch("more than 200,000 parts are filled in");
    const text = super.renderTokens(...given);
    this.length += text.length;
    if (this.length > 4 * LONGEST_TEXT || text.length > LONGEST_TEXT) throw new TooMuch("the text has more than a million characters");
    return text;
  }
}
type Mustache = InstanceType<typeof Mustache.Writer>;

/** A Mustache template with its variables filled in as they are: there is no code in one, and nothing else is read. */
export function renderTemplate(template: string, vars: JsonObject): string | Refusal {
  if (template.length > LONGEST_TEMPLATE) return refuse("skill_template_failed", "The template is larger than 256 KiB.");
  try {
    // Of partials there are none: each template stands alone.
    return new BoundedWriter().render(template, vars, undefined, { escape: String });
  } catch (error) {
    const why = error instanceof TooMuch || error instanceof Error ? error.message.slice(0, 300) : "it is not valid";
    return refuse("skill_template_failed", `The template could not be filled in: ${why}.`);
  }
}
