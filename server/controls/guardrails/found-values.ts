import type { EngineValue } from "../../wire/guardrail-engine.ts";
import { MAX_HELD } from "./answers/hold-back.ts";
import type { BoundEngine, SurfaceGuard } from "./surface-guard.ts";
import type { GuardRule } from "./text-guard.ts";
import { isWordAt } from "./text/characters.ts";
import type { DetectedSpan, Detector } from "./text/detector.ts";

/** A longer value could not be found again in a text that is read in steps. */
const LONGEST = MAX_HELD - 2;
const MOST = 1_000;

/** Values that engines found in the joined texts of a call, to be redacted in each of these texts. */
export class FoundValues {
  readonly #seen = new Set<string>();
  readonly #values: readonly string[];
  readonly surface: SurfaceGuard;

  constructor(of: SurfaceGuard, found: readonly (readonly [engine: BoundEngine, values: readonly EngineValue[]])[]) {
    const rules = found.map(([{ source, restores = false }, values]): GuardRule => ({
      source,
      restores,
      action: "redact",
      threshold: 0,
      detector: this.#detector(values),
    }));
    this.#values = found.flatMap(([, values]) => values.map(({ value }) => value));
    this.surface = { ...of, guard: { rules }, trusted: { rules: [] }, engines: [] };
  }

  /** Whether a value was not found again, so that it would be sent on. Part of another value is found with it. */
  get isIncomplete(): boolean {
    if (this.#values.length > MOST) return true;
    return this.#values.some((value) => !this.#seen.has(value) && ![...this.#seen].some((other) => other.includes(value)));
  }

  #detector(found: readonly EngineValue[]): Detector {
    // The longest first, because one value may begin like another.
    const values = [...new Map(found.map((one) => [one.value, one])).values()]
      .filter(({ value }) => value.length <= LONGEST)
      .slice(0, MOST)
      .toSorted((a, b) => b.value.length - a.value.length);
    const longest = values[0]?.value.length ?? 0;
    return {
      check: "pii",
      maxLength: LONGEST,
      reads: "as it is",
      find: (text, from, to) => {
        const spans: DetectedSpan[] = [];
        for (const { value, category } of values)
          for (let start = text.indexOf(value, from); start >= 0 && start < to; start = text.indexOf(value, start + 1)) {
            const end = start + value.length;
            if (isWithinWord(text, start) || isWithinWord(text, end)) continue;
            this.#seen.add(value);
            spans.push({ category, start, end, score: 1 });
          }
        let reach = 0;
        return spans
          .toSorted((a, b) => a.start - b.start || b.end - a.end)
          .filter(({ start, end }) => {
            if (start < reach) return false;
            reach = end;
            return true;
          });
      },
      openFrom: (text) => Math.max(0, text.length - longest),
    };
  }
}

/** Whether there is a word on both sides of the place. */
function isWithinWord(text: string, at: number): boolean {
  return isWordAt(text, at - 1) && isWordAt(text, at);
}
