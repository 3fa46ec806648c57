import type { InTurns } from "../../kernel/scheduling/in-turns.ts";
import type { TextSlot } from "../../wire/inbound.ts";
import type { GuardRun } from "./guard-run.ts";
import type { TextGuard } from "./text-guard.ts";

/** A file extension; an email address before it is recognised only without it. */
const FILE_ENDING = /\.[a-z][a-z0-9]{1,4}$/i;

/**
 * The name as it may be sent. It is inspected as written, without its file extension, and as separate words, because names
 * have no spaces. Only names of kind `name` can be changed; any other is an identifier, and a redaction blocks instead.
 */
export function* guardedName({ kind, text }: Pick<TextSlot, "kind" | "text">, run: GuardRun, guard: TextGuard): InTurns<string> {
  let name = text;
  const seenNames = new Set<string>();
  for (const form of [whole, stem, words]) {
    const { read, rest } = form(name);
    if (seenNames.has(read)) continue;
    seenNames.add(read);
    const out = yield* run.text(read, guard);
    if (run.blocked !== null) return text;
    if (out === read) continue;
    if (kind !== "name") {
      run.blockWhatIsRedacted();
      return text;
    }
    name = `${out.replaceAll(/\s+/g, "_")}${rest}`;
  }
  return name;
}

interface NameForm {
  readonly read: string;
  /** The part of the name after it. */
  readonly rest: string;
}

const whole = (name: string): NameForm => ({ read: name, rest: "" });
const words = (name: string): NameForm => ({ read: nameWords(name), rest: "" });
function stem(name: string): NameForm {
  const rest = FILE_ENDING.exec(name)?.[0] ?? "";
  return { read: name.slice(0, name.length - rest.length), rest };
}

/** The words that a name consists of, separated by spaces. */
export function nameWords(name: string): string {
  return name
    .replaceAll(/([\p{Ll}\p{N}])(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, "$1$2 ")
    .replaceAll(/[_\-.:/]+/g, " ")
    .trim();
}
