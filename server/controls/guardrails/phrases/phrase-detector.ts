import { type Detector, type DetectedSpan, WINDOW } from "../text/detector.ts";
import type { GuardrailCheck } from "../text/finding.ts";
import { normalisedPrefix } from "../patterns/normalised-prefix.ts";
import { patternPrefixes } from "../patterns/pattern-prefixes.ts";
import { phraseStarts } from "./phrase-starts.ts";
import { spelledPlainly } from "./plain-spelling.ts";

/** A turn of phrase that says something of the intent of a text. */
export interface Signal {
  readonly name: string;
  /** From 0 to 1; what stands below 0.5 counts only when a threshold was lowered. */
  readonly score: number;
  /** Source of a regular expression, case-insensitive and Unicode, matched where a word or a sign begins. */
  readonly pattern: string;
  /** The characters it may begin with, where its pattern does not show them. */
  readonly begins?: readonly string[];
}

interface Compiled {
  readonly name: string;
  readonly score: number;
  readonly pattern: RegExp;
}

/** The signals that begin with the letters on the way to it. */
interface Node {
  readonly next: Map<number, Node>;
  readonly signals: Compiled[];
}

const newNode = (): Node => ({ next: new Map(), signals: [] });

/** The detector of these signals. Not before something is guarded by it: to make it takes part of a start. */
export function phraseDetector(check: GuardrailCheck, signals: readonly Signal[]): () => Detector {
  let made: Detector | undefined;
  return () => (made ??= detectorOf(check, signals));
}

/**
 * Finds signals. Only the first letters of each word are looked at, unless a signal begins with them; the best scored
 * signal at a place is its finding.
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
  /** Whether the text ends before it shows that no signal begins at `start`. */
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
