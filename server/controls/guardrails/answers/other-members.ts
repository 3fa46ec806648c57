import type { InTurns } from "../../../kernel/scheduling/in-turns.ts";
import type { AnswerTexts, ContentsList, OtherText } from "../../../wire/texts/answer-texts.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { addOtherTexts, type IsCallersText } from "../../../wire/texts/other-answer-texts.ts";
import type { Frame } from "../../../road/output/frames.ts";
import { renameMember } from "../../../wire/json/rename-member.ts";
import type { GuardRun } from "../guard-run.ts";

/** A member's value in the newest frame that has it. */
interface InspectedText {
  readonly came: string;
  /** Whether it was left unchanged, both by itself and after its previous value. */
  readonly kept: boolean;
  /** The end of what was sent of the member. */
  readonly end: string;
}

/** Most members of a stream remembered between frames, and characters kept of what was sent of each. */
const MAX_MEMBERS = 1_000;
const BEFORE = 256;

/**
 * Guards text in members that the format does not define. It is inspected in place: many repeat it in every frame, and it must
 * not be split differently than received. If the text changes between frames, it is also inspected after the previous value.
 */
export class OtherMembers {
  private readonly texts: AnswerTexts;
  private readonly run: GuardRun;
  private readonly isCallersText: IsCallersText;
  private readonly inspectedTexts = new Map<string, InspectedText>();

  constructor(texts: AnswerTexts, run: GuardRun, isCallersText: IsCallersText) {
    this.texts = texts;
    this.run = run;
    this.isCallersText = isCallersText;
  }

  /** The contents of a body, including unknown members; in a stream without those that repeat an unchanged earlier value. */
  contents(body: JsonObject, whole: boolean): ContentsList {
    const contents = this.texts.contents(body, whole);
    addOtherTexts(body, contents, this.isCallersText);
    const { others } = contents;
    if (whole || others.length === 0 || this.inspectedTexts.size === 0) return contents;
    contents.others = others.filter(({ way, kind, holder, key }) => {
      const inspectedBefore = kind === "name" ? undefined : this.inspectedTexts.get(way);
      return inspectedBefore === undefined || !inspectedBefore.kept || inspectedBefore.came !== holder[key];
    });
    return contents;
  }

  /** `guardText` inspects a text by itself. */
  *guard(frame: Frame, others: readonly OtherText[], whole: boolean, guardText: (text: string) => InTurns<string>): InTurns<void> {
    for (const { holder, key, kind, way } of others) {
      const text = kind === "name" ? String(key) : (holder[key] as string);
      let out = yield* guardText(text);
      if (kind === "text" && !whole && this.run.blocked === null) out = yield* this.behind(way, text, out);
      if (this.run.blocked !== null) return;
      if (out === text) continue;
      if (kind === "name") renameMember(holder as JsonObject, String(key), out);
      else holder[key] = out;
      frame.changed = true;
    }
  }

  /** Inspects a text together with the member's previous value, which it may continue; returns what may be sent. */
  private *behind(way: string, came: string, alone: string): InTurns<string> {
    const before = this.inspectedTexts.get(way);
    let out = alone;
    if (before !== undefined && before.came !== came) {
      const hold = this.run.hold(before.end);
      out = yield* this.run.push(hold, alone, true);
      this.run.close(hold);
    }
    const end = before === undefined || before.came === came ? out : before.end + out;
    if (before !== undefined || this.inspectedTexts.size < MAX_MEMBERS)
      this.inspectedTexts.set(way, { came, kept: out === came, end: end.slice(-BEFORE) });
    return out;
  }
}
