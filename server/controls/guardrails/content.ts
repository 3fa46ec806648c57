import type { Refusal } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import { SURFACES } from "../../road/content-surface.ts";
import type { TextSlot } from "../../wire/inbound.ts";
import { replaceLeaves } from "../../wire/json-leaves.ts";
import { askEngines, type EngineParts } from "./engines.ts";
import type { GuardRun } from "./guard-run.ts";

/** Characters after which other calls get their turn. */
const TURN = 64 * 1024;
/** A text of more is looked at in turns, and is not remembered. */
const LONG = 4 * 1024;

/** Guards every text, puts in its place what may go on, and tells the row. A refusal where it is blocked. */
export async function inspectContent(call: Call, run: GuardRun, slots: readonly TextSlot[], parts: EngineParts): Promise<Refusal | null> {
  const said = await guardContent(run, slots);
  const { surface, engines } = run.surface;
  if (run.blocked === null && engines.length > 0) await askEngines(parts, run, call, SURFACES[surface].direction, said.join("\n\n"));
  run.tell(call);
  return run.refusal();
}

/** What was said, up to where the run blocked. */
async function guardContent(run: GuardRun, slots: readonly TextSlot[]): Promise<readonly string[]> {
  const looks = new Looks(run);
  const said = await looked(
    slots.map(({ text }) => text),
    (text) => (holdsJson(text) ? guardedJson(looks, text) : looks.at(text)),
    run,
  );
  if (run.blocked !== null) return said;
  for (const [at, slot] of slots.entries()) {
    const out = said[at];
    if (out !== undefined && out !== slot.text) slot.replace(out);
  }
  return said;
}

function holdsJson(text: string): boolean {
  return /^\s*[[{]/.test(text);
}

/** A text that holds JSON stays JSON: each string, name and whole number in it is looked at by itself. */
async function guardedJson(looks: Looks, text: string): Promise<string> {
  const leaves: string[] = [];
  const same = replaceLeaves(text, (leaf) => {
    leaves.push(leaf);
    return leaf;
  });
  if (same === null || leaves.length === 0) return looks.at(text);
  const said = await looked(leaves, (leaf) => looks.at(leaf), looks.run);
  if (said.every((out, at) => out === leaves[at])) return same;
  let next = 0;
  return replaceLeaves(text, (leaf) => said[next++] ?? leaf) ?? text;
}

/** Looks at each text of one answer once, however often it stands there: rows say the same names again and again. */
class Looks {
  readonly run: GuardRun;
  private readonly known = new Map<string, string>();

  constructor(run: GuardRun) {
    this.run = run;
  }

  at(text: string): string | Promise<string> {
    const known = this.known.get(text);
    if (known !== undefined) return known;
    if (text.length > LONG) return this.run.longText(text, this.run.surface.guard);
    const out = this.run.text(text);
    this.known.set(text, out);
    return out;
  }
}

/** What each text may go on as, without keeping other calls waiting. Stops where the run blocks. */
async function looked(texts: readonly string[], look: (text: string) => string | Promise<string>, run: GuardRun): Promise<string[]> {
  const said: string[] = [];
  let characters = 0;
  for (const text of texts) {
    const looking = look(text);
    said.push(typeof looking === "string" ? looking : await looking);
    if (run.blocked !== null) return said;
    characters += text.length;
    if (characters <= TURN) continue;
    characters = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return said;
}
