import { parentPort } from "node:worker_threads";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { textsToCount } from "./counted-texts.ts";
import type { ThreadJob, ThreadJobDone } from "./thread-turns.ts";

/** Characters encoded at once: encoding time grows with the square of a word's length. */
const PIECE = 128;
/** Where a piece may end, so that no word is split. */
const BREAK = /\s(?=\S*$)/;
/** Time limit of one text, because others wait. */
const MAX_DURATION_MS = 400;
/** Encoded binary data such as images: it contains no words, and each character counts as a token. */
const ENCODED = /[A-Za-z0-9+/_=-]{256,}/g;
/** The tokenizer's special tokens count as ordinary text. */
const OPTIONS = { disallowedSpecial: new Set<string>() };

/** The number of tokens; null if counting takes too long. */
function counted(body: string): number | null {
  const until = performance.now() + MAX_DURATION_MS;
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
    // Nested too deeply, or not accepted by the tokenizer.
    return { id, result: null };
  }
}

parentPort?.on("message", (given: ThreadJob<string>) => parentPort?.postMessage(work(given), []));
