import { type Detector, type DetectedSpan, WINDOW } from "../text/detector.ts";
import type { GuardrailCheck } from "../text/finding.ts";
import { normalisedPrefix } from "../patterns/normalised-prefix.ts";
import { patternPrefixes } from "../patterns/pattern-prefixes.ts";
import { phraseStarts } from "./phrase-starts.ts";
import { spelledPlainly } from "./plain-spelling.ts";

/** A phrase that shows something about the intent of a text. */
export interface Signal {
  readonly name: string;
  /** From 0 to 1; below 0.5 it only counts if the threshold was lowered. */
  readonly score: number;
  /** Source of a regular expression, case-insensitive and Unicode, matched at the start of a word or symbol. */
  readonly pattern: string;
  /** The possible beginnings, if they cannot be derived from the pattern. */
  readonly begins?: readonly string[];
}

interface Compiled {
  readonly name: string;
  readonly score: number;
  readonly pattern: RegExp;
}

/** A trie node with the signals whose prefix ends here. */
interface Node {
  readonly next: Map<number, Node>;
  readonly signals: Compiled[];
}

const newNode = (): Node => ({ next: new Map(), signals: [] });

/** The detector for these signals, created on first use because that takes noticeable time at startup. */
export function phraseDetector(check: GuardrailCheck, signals: readonly Signal[]): () => Detector {
  let made: Detector | undefined;
  return () => (made ??= detectorOf(check, signals));
}

/**
 * Finds signals. Only the beginnings of words are examined, unless a signal begins otherwise; at each place the signal
 * with the best score wins.
 */
function detectorOf(check: GuardrailCheck, signals: readonly Signal[]): Detector {
  const root = newNode();
  const begins = new Set<string>();
  const sorted = signals.map(({ name, score, pattern: source, begins: given }) => {
    const pattern = spelledPlainly(source);
    const starts = given?.map(spelledPlainly) ?? patternPrefixes(pattern);
    return { starts, compiled: { name, score, pattern: new RegExp(pattern, "iuy") } };
  });
  sorted.sort((a, b) => b.compiled.score - a.compiled.score);
  for (const { starts, compiled } of sorted) {
    for (const start of starts) {
      if (start === "") throw new Error(`a signal of ${check} may begin with anything: ${compiled.pattern.source.slice(0, 60)}`);
      begins.add(start);
      let node = root;
      for (let i = 0; i < start.length; i++) {
        const code = normalisedPrefix(start.charCodeAt(i));
        let next = node.next.get(code);
        if (next === undefined) node.next.set(code, (next = newNode()));
        node = next;
      }
      if (!node.signals.includes(compiled)) node.signals.push(compiled);
    }
  }
  const eachStart = phraseStarts(begins);

  const best = (text: string, start: number): DetectedSpan | null => {
    let found: DetectedSpan | null = null;
    let node = root.next.get(normalisedPrefix(text.charCodeAt(start)));
    for (let at = start; node !== undefined; node = node.next.get(normalisedPrefix(text.charCodeAt(++at)))) {
      for (const { name, score, pattern } of node.signals) {
        if (found !== null && found.score >= score) break;
        pattern.lastIndex = start;
        const match = pattern.exec(text);
        if (match !== null && match[0].length > 0 && match[0].length < WINDOW)
          found = { category: name, start, end: start + match[0].length, score };
      }
      if (at === text.length) break;
    }
    return found;
  };
  /** Whether a signal may begin at `start`, also if the text ends too early to tell. */
  const mayBegin = (text: string, start: number): boolean => {
    let node: Node | undefined = root;
    for (let at = start; at < text.length; at++) {
      node = node.next.get(normalisedPrefix(text.charCodeAt(at)));
      if (node === undefined) return false;
      if (node.signals.length > 0) return true;
    }
    return true;
  };

  return {
    check,
    maxLength: WINDOW - 1,
    reads: "spelled plainly",
    find(text, from, to) {
      const found: DetectedSpan[] = [];
      eachStart(text, from, to, (at) => {
        const value = best(text, at);
        if (value !== null) found.push(value);
        return value?.end ?? at + 1;
      });
      return found;
    },
    openFrom(text) {
      let open = text.length;
      eachStart(text, Math.max(0, text.length - WINDOW + 1), text.length, (at) => {
        if (!mayBegin(text, at)) return at + 1;
        open = at;
        return null;
      });
      return open;
    },
  };
}
