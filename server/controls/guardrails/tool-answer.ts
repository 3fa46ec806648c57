import type { Refusal } from "../../kernel/errors.ts";
import { replaceLeaves } from "../../wire/json-leaves.ts";
import { replaceMessageTexts } from "../../wire/mcp/message-texts.ts";
import type { Call } from "../../road/call.ts";
import { askEngines, type EngineParts } from "./engines.ts";
import type { GuardRun } from "./guard-run.ts";

/** Characters after which other calls get their turn. */
const TURN = 64 * 1024;
/** A text of more is looked at in turns, and is not remembered. */
const LONG = 4 * 1024;

/**
 * Guards every text of a tool server's answer, and tells the row. A refusal where it is blocked, another text of the
 * message where something was redacted, null where it can stay as it came.
 */
export async function guardToolAnswer(call: Call, run: GuardRun, message: string, parts: EngineParts): Promise<Refusal | string | null> {
  const looks = new Looks(run);
  const guarded = await changed(
    (change) => replaceMessageTexts(message, change),
    (text) => (holdsJson(text) ? guardedJson(looks, text) : looks.at(text)),
    run,
  );
  if (run.blocked === null && run.surface.engines.length > 0) await askEngines(parts, run, call, "output", guarded.said.join("\n\n"));
  run.tell(call);
  return run.refusal() ?? (guarded.text === message ? null : guarded.text);
}

function holdsJson(text: string): boolean {
  return /^\s*[[{]/.test(text);
}

/** A text that holds JSON stays JSON: each string, name and whole number in it is looked at by itself. */
async function guardedJson(looks: Looks, text: string): Promise<string> {
  const { text: out, said } = await changed(
    (change) => replaceLeaves(text, change),
    (leaf) => looks.at(leaf),
    looks.run,
  );
  return said.length === 0 ? ((await looks.at(text)) as string) : out;
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

/**
 * Rewrites in two passes, so that looking at the texts between them need not keep others waiting; in one where nothing
 * changes. `said`: the texts as they may go on, none where there were none.
 */
async function changed(
  rewrite: (change: (text: string) => string) => string | null,
  look: (text: string) => string | Promise<string>,
  run: GuardRun,
): Promise<{ readonly text: string; readonly said: readonly string[] }> {
  const texts: string[] = [];
  const same = rewrite((text) => {
    texts.push(text);
    return text;
  });
  const said: string[] = [];
  let looked = 0;
  let differs = false;
  for (const text of texts) {
    const looking = look(text);
    const out = typeof looking === "string" ? looking : await looking;
    said.push(out);
    differs ||= out !== text;
    if (run.blocked !== null) return { text: same ?? "", said };
    looked += text.length;
    if (looked <= TURN) continue;
    looked = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
  let next = 0;
  return { text: (differs ? rewrite((text) => said[next++] ?? text) : same) ?? "", said };
}
