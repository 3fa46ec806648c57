import { parentPort } from "node:worker_threads";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { textsToCount } from "./counted-texts.ts";
import type { ThreadJob, ThreadJobDone } from "./thread-turns.ts";

/** Characters that are encoded at once: what encoding one word takes grows with the square of its length. */
const PIECE = 128;
/** Where a piece may end before, so that no word is counted in two halves. */
const BREAK = /\s(?=\S*$)/;
/** Others wait meanwhile. */
const LONGEST_MS = 400;
/** Bytes written as text, such as a picture's: no words are in them, and each character stands for a token. */
const ENCODED = /[A-Za-z0-9+/_=-]{256,}/g;
/** A mark of the tokenizer's own is as much text as any other. */
const OPTIONS = { disallowedSpecial: new Set<string>() };

/** Null where counting would take too long. */
function counted(body: string): number | null {
  const until = performance.now() + LONGEST_MS;
  let tokens = 0;
  for (const whole of textsToCount(body)) {
    const text = whole.replace(ENCODED, (run) => {
      tokens += run.length;
      return " ";
    });
    for (let at = 0; at < text.length;) {
      let piece = text.slice(at, at + PIECE);
      const rest = at + PIECE < text.length ? piece.search(BREAK) : -1;
      if (rest > 0) piece = piece.slice(0, rest);
      tokens += countTokens(piece, OPTIONS);
      at += piece.length;
      if (performance.now() > until) return null;
    }
  }
  return tokens;
}

function work({ id, job: text }: ThreadJob<string>): ThreadJobDone<number> {
  try {
    return { id, result: counted(text) };
  } catch {
    // Nested too deeply, or what the tokenizer does not take.
    return { id, result: null };
  }
}

parentPort?.on("message", (given: ThreadJob<string>) => parentPort?.postMessage(work(given), []));
