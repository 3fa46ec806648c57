import type { InTurns } from "../../kernel/in-turns.ts";
import type { TextSlot } from "../../wire/inbound.ts";
import type { GuardRun } from "./guard-run.ts";
import type { TextGuard } from "./text-guard.ts";

/**
 * The name as it may go on. It is looked at as it is written and as the words it is put together from, because names have no
 * spaces. A tool's name is what it is called by: where it would have to be another, the run blocks.
 */
export function* guardedName({ kind, text }: TextSlot, run: GuardRun, guard: TextGuard): InTurns<string> {
  for (const form of new Set([text, nameWords(text)])) {
    const out = yield* run.text(form, guard);
    if (run.blocked !== null) return text;
    if (out === form) continue;
    if (kind === "name") return out.replaceAll(/\s+/g, "_");
    run.blockWhatIsRedacted();
    return text;
  }
  return text;
}

/** The words a name is put together from. */
export function nameWords(name: string): string {
  return name
    .replaceAll(/([\p{Ll}\p{N}])(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, "$1$2 ")
    .replaceAll(/[_\-.:/]+/g, " ")
    .trim();
}
