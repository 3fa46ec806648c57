import type { Refusal } from "../../kernel/errors.ts";
import { type InTurns, inTurns } from "../../kernel/scheduling/in-turns.ts";
import type { Call } from "../../road/call.ts";
import { SURFACES } from "../../road/request/content-surface.ts";
import { partsOfMessages } from "../../road/request/message-parts.ts";
import type { TextSlot } from "../../wire/inbound.ts";
import { guardedAcross } from "./across-parts.ts";
import { askEngines, type EngineParts } from "./engines.ts";
import type { GuardRun } from "./guard-run.ts";

/** Longer texts are not remembered. */
const LONG = 4 * 1024;

/** Guards every text, replaces it by what may be sent, and records the result on the row. Returns a refusal if blocked. */
export async function inspectContent(call: Call, run: GuardRun, slots: readonly TextSlot[], parts: EngineParts): Promise<Refusal | null> {
  const inspected = await inTurns(guardContent(run, slots), run.work);
  run.noteInspected();
  const { surface, engines } = run.surface;
  if (run.blocked === null && engines.length > 0) {
    const modelTexts = inspected.filter((_, at) => slots[at]?.rulesOnly !== true);
    const current = slots.map((slot, at) => ({
      role: slot.role,
      kind: slot.kind,
      ...(slot.owner !== undefined && { owner: slot.owner }),
      text: inspected[at] ?? slot.text,
      replace: (text: string) => slot.replace(text),
    }));
    await askEngines(parts, run, call, SURFACES[surface].direction, modelTexts.join("\n\n"), (beside) => guardContent(beside, current));
  }
  run.report(call);
  return run.refusal();
}

/** The inspected texts, up to where the run blocked. */
function* guardContent(run: GuardRun, slots: readonly TextSlot[]): InTurns<readonly string[]> {
  // Rows repeat the same names, so each distinct text of an answer is inspected once.
  const known = new Map<string, string>();
  const messages: string[] = [];
  for (const { text } of slots) {
    let out = known.get(text);
    if (out === undefined) out = yield* holdsJson(text) ? run.json(text, run.surface.guard, known) : run.text(text);
    messages.push(out);
    if (run.blocked !== null) return messages;
    if (text.length <= LONG) known.set(text, out);
  }
  for (const [at, slot] of slots.entries()) {
    const out = messages[at];
    if (out !== undefined && out !== slot.text) slot.replace(out);
  }
  // A value that spans the parts of a message is in none of them.
  const across = new Set<TextSlot>();
  for (const parts of partsOfMessages(slots)) {
    if (yield* guardedAcross(parts, run, run.surface.guard)) for (const slot of parts) across.add(slot);
    if (run.blocked !== null) return messages;
  }
  return across.size === 0 ? messages : slots.map((slot, at) => (across.has(slot) ? slot.text : (messages[at] ?? slot.text)));
}

function holdsJson(text: string): boolean {
  return /^\s*[[{]/.test(text);
}
