import type { Refusal } from "../../kernel/errors.ts";
import { replaceLeaves } from "../../wire/json-leaves.ts";
import { replaceMessageTexts } from "../../wire/mcp/message-texts.ts";
import type { Call } from "../call.ts";
import { askEngines, type EngineParts } from "./engines.ts";
import type { GuardRun } from "./guard-run.ts";

/** Characters after which other calls get their turn. */
const TURN = 64 * 1024;

/**
 * Guards every text of a tool server's answer, and tells the row. A refusal where it is blocked, another text of the
 * message where something was redacted, null where it can stay as it came.
 */
export async function guardToolAnswer(call: Call, run: GuardRun, message: string, parts: EngineParts): Promise<Refusal | string | null> {
  const said: string[] = [];
  const guarded = await changed(
    (change) => replaceMessageTexts(message, change),
    async (text) => {
      const out = (await guardedJson(run, text)) ?? (await run.longText(text, run.surface.guard));
      said.push(out);
      return out;
    },
    () => run.blocked !== null,
  );
  if (run.blocked === null && run.surface.engines.length > 0) await askEngines(parts, run, call, "output", said.join("\n\n"));
  run.tell(call);
  return run.refusal() ?? (guarded === message ? null : guarded);
}

/** A text that holds JSON stays JSON: each string, name and whole number in it is looked at by itself. Null: it holds none. */
async function guardedJson(run: GuardRun, text: string): Promise<string | null> {
  if (!/^\s*[[{]/.test(text)) return null;
  return changed(
    (change) => replaceLeaves(text, change),
    (leaf) => run.longText(leaf, run.surface.guard),
    () => run.blocked !== null,
  );
}

/** Rewrites in two passes, so that looking at the texts between them need not keep others waiting. */
async function changed<Out extends string | null>(rewrite: (change: (text: string) => string) => Out, look: (text: string) => Promise<string>, ended: () => boolean): Promise<Out> {
  const texts: string[] = [];
  const same = rewrite((text) => {
    texts.push(text);
    return text;
  });
  const out: string[] = [];
  let looked = 0;
  for (const text of texts) {
    out.push(await look(text));
    if (ended()) return same;
    looked += text.length;
    if (looked <= TURN) continue;
    looked = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
  let next = 0;
  return rewrite((text) => out[next++] ?? text);
}
