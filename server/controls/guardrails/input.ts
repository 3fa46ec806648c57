import type { TextSlot } from "../../wire/inbound.ts";
import { refuse } from "../../kernel/errors.ts";
import { type InTurns, inTurns } from "../../kernel/scheduling/in-turns.ts";
import { repeatedNameRefusal } from "../../road/request/repeated-name-refusal.ts";
import type { Call } from "../../road/call.ts";
import { type Decision, PASS, refused } from "../../road/decision.ts";
import { withholdContent } from "../../road/record/withhold-content.ts";
import { addTag } from "../../road/record/add-tag.ts";
import type { RequestView } from "../../road/view.ts";
import { isNameSlot, partsOfMessages, textsAsRead } from "../../road/request/message-parts.ts";
import { askEngines, type EngineParts } from "./engines.ts";
import { guardedAcross } from "./across-parts.ts";
import { guardedName } from "./names.ts";
import type { GuardRun } from "./guard-run.ts";
import type { TextGuard } from "./text-guard.ts";

/**
 * Guards every text of a request: the caller's, instructions, tool results, arguments of earlier calls, and
 * definitions. Redaction happens in the view, so neither the provider nor the record gets the original.
 */
export async function guardInput(call: Call, view: RequestView, run: GuardRun, parts: EngineParts): Promise<Decision> {
  const unclear = repeatedNameRefusal(view);
  if (unclear !== null) {
    withholdContent(call);
    return refused(unclear);
  }
  const { guard, trusted } = run.surface;
  if (view.opaque) {
    if (!run.surface.enforces) {
      run.skip();
      run.report(call);
      return PASS;
    }
    const words = "must be text in this resource group, because its guardrails look at it";
    return refused(
      refuse("parameter_rejected", undefined, {
        fields: [{ field: view.names.input, message: words }],
        reason: `${view.names.input} ${words}`,
      }),
    );
  }
  const guardOf = (slot: TextSlot) => (slot.role === "system" ? trusted : guard);
  const inspection = inTurns(guardTexts(view, run, guardOf), run.work);
  const own = inspection instanceof Promise ? await inspection : inspection;
  // Descriptions may come from a tool server, so they are not trusted as instructions.
  const defined =
    run.blocked === null
      ? await inTurns(
          guardSlots(view.definitions(), run, () => guard),
          run.work,
        )
      : false;
  run.noteInspected();
  const isFound =
    run.blocked === null &&
    run.surface.engines.length > 0 &&
    (await askEngines(parts, run, call, "input", wordsOf(view), (beside) => guardFound(view, beside)));
  run.report(call);
  const refusal = run.refusal();
  if (refusal !== null) {
    if (view.withhold === null) {
      withholdContent(call);
      return refused(refusal);
    }
    addTag(call, view.withhold());
  }
  if (own || defined || isFound || refusal !== null) {
    // The original content is not kept: until the call is sent, the record previews the redacted content.
    call.requestContent = view.content();
  }
  return PASS;
}

/** Redacts what engines found in the texts that they were asked about. */
function* guardFound(view: RequestView, run: GuardRun): InTurns<void> {
  const { guard, trusted } = run.surface;
  yield* guardTexts(view, run, ({ role }) => (role === "system" ? trusted : guard));
  if (run.blocked === null) yield* guardSlots(view.definitions(), run, () => guard);
}

type GuardOf = (slot: TextSlot) => TextGuard;

/** The text that engines are asked about: everything except the operator's own instructions and texts for rules only. */
function wordsOf(view: RequestView): string {
  const userTexts = textsAsRead(view.texts().filter(({ role, rulesOnly }) => role !== "system" && rulesOnly !== true));
  return [...userTexts, ...view.definitions()].map(({ text }) => text).join("\n\n");
}

/** Each text by itself, then the parts of each message as the single text that a model reads. */
function* guardTexts(view: RequestView, run: GuardRun, guardOf: GuardOf): InTurns<boolean> {
  const slots = view.texts();
  let changed = yield* guardSlots(slots, run, guardOf);
  // With the texts as changed by now.
  for (const parts of run.blocked === null ? partsOfMessages(changed ? view.texts() : slots) : []) {
    if (yield* guardedAcross(parts, run, guardOf(parts[0] as TextSlot))) changed = true;
    if (run.blocked !== null) return changed;
  }
  return changed;
}

/** Guards each slot; returns whether any was changed. Stops if the run blocks. */
function* guardSlots(slots: readonly TextSlot[], run: GuardRun, guardOf: GuardOf): InTurns<boolean> {
  let changed = false;
  for (const slot of slots) {
    const guard = guardOf(slot);
    if (guard.rules.length === 0) continue;
    const { text } = slot;
    const out = yield* slot.kind === "arguments"
      ? run.json(text, guard)
      : isNameSlot(slot)
        ? guardedName(slot, run, guard)
        : run.text(text, guard);
    if (run.blocked === null && out !== text && slot.kind === "fixed_text") run.blockWhatIsRedacted();
    if (run.blocked !== null) {
      slot.forget?.();
      return changed;
    }
    if (out === text) continue;
    slot.replace(out);
    changed = true;
  }
  return changed;
}
