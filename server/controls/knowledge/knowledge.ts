import { randomBytes } from "node:crypto";
import type { KnowledgeBaseEntry } from "../../directory/knowledge/knowledge-base-entry.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { repeatedNameRefusal } from "../../road/request/repeated-name-refusal.ts";
import type { Call } from "../../road/call.ts";
import { surfaceOf } from "../../road/request/content-surface.ts";
import type { RequestControl } from "../../road/control.ts";
import { type Decision, PASS, refused } from "../../road/decision.ts";
import { type FoundPassage, type KnowledgeLookup, knowledgeFor, noteKnowledge, numbered } from "../../road/knowledge.ts";
import { addTag } from "../../road/record/add-tag.ts";
import type { RequestView } from "../../road/view.ts";
import type { TextSlot } from "../../wire/inbound.ts";
import { fenced } from "./fenced-passages.ts";

export interface KnowledgeControlParts extends KnowledgeLookup {
  readonly log: Log;
}

/** Puts passages from knowledge bases before the last question of a conversation (docs/guides/knowledge-bases.md). */
export class Knowledge implements RequestControl {
  readonly name = "knowledge";
  private readonly parts: KnowledgeControlParts;

  constructor(parts: KnowledgeControlParts) {
    this.parts = parts;
  }

  decide(call: Call, view: RequestView): Decision | Promise<Decision> {
    const bases = knowledgeFor(call, view);
    if (isRefusal(bases)) return refused(bases);
    return bases.length === 0 ? PASS : this.put(call, view, bases);
  }

  private async put(call: Call, view: RequestView, bases: readonly KnowledgeBaseEntry[]): Promise<Decision> {
    const areBasesNamed = view.knowledge?.ids != null;
    const slots = view.opaque || view.prompts > 1 ? [] : questionOf(view.texts());
    const [first] = slots;
    // A turn that only returns tool results asks no new question.
    if (first === undefined) return PASS;
    const unclear = repeatedNameRefusal(view);
    if (unclear !== null) return refused(unclear);
    const started = performance.now();
    const found = await this.found(call, slots.map(({ text }) => text).join("\n"), bases, areBasesNamed);
    if (isRefusal(found)) return refused(found);
    noteKnowledge(call, bases, found, started);
    if (found.length === 0) return PASS;
    first.replace(`${fenced(numbered(found), randomBytes(9).toString("base64url"))}\n\n${first.text}`);
    call.requestContentSent = call.requestContent;
    call.requestContent = view.content();
    return PASS;
  }

  private async found(
    call: Call,
    question: string,
    bases: readonly KnowledgeBaseEntry[],
    areBasesNamed: boolean,
  ): Promise<readonly FoundPassage[] | Refusal> {
    let found: readonly FoundPassage[];
    try {
      found = await this.parts.find(call, question, bases);
    } catch (error) {
      this.parts.log.warn("knowledge_not_searched", { call_id: call.id, error: error as Error });
      addTag(call, "knowledge_unavailable");
      return areBasesNamed ? refuse("knowledge_unavailable") : [];
    }
    const surface = surfaceOf(call.audit.proxySubtype, "input");
    if (surface === null || found.length === 0) return found;
    const clearedPassages = await this.parts.cleared(
      call,
      surface,
      found.map(({ name, heading, text }) => [inOneLine(name), inOneLine(heading), text].join("\n")),
    );
    const kept = found.flatMap((passage, i) => {
      const text = clearedPassages[i] ?? null;
      if (text === null) return [];
      // Redaction may have changed the title as well, so all of it is taken from the inspected text.
      const [name = "", heading = "", ...lines] = text.split("\n");
      return [{ ...passage, name, heading, text: lines.join("\n") }];
    });
    if (kept.length < found.length) addTag(call, "passage_withheld");
    return kept;
  }
}

/** The text parts of the last message, if it is the user's; otherwise none. */
function questionOf(slots: readonly TextSlot[]): readonly TextSlot[] {
  const texts = slots.filter(({ kind, role }) => kind === "text" && role !== "system" && role !== "tool_definition");
  // If texts belong to messages, a text without one is a file or a predicted output.
  const questionTexts = texts.some(({ owner }) => owner !== undefined) ? texts.filter(({ owner }) => owner !== undefined) : texts;
  const last = questionTexts.at(-1);
  if (last?.role !== "user") return [];
  if (last.owner === undefined) return [last];
  return questionTexts.filter(({ owner, role }) => owner === last.owner && role === "user");
}

const inOneLine = (text: string) => text.replaceAll(/\s+/g, " ");
