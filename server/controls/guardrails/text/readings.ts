import type { Detector } from "./detector.ts";
import { foldJsonText, type FoldedText, foldText, foldTextWithTags, unfolded } from "./folded-text.ts";
import { plainSpelling } from "../phrases/plain-spelling.ts";

/** One reading of a text, with or without tag characters; its plain spelling is computed on first use. */
class Reading {
  readonly folded: FoldedText;
  #plain: FoldedText | null = null;

  constructor(folded: FoldedText) {
    this.folded = folded;
  }

  of({ reads }: Detector): FoldedText {
    return reads === "spelled plainly" ? (this.#plain ??= plainSpelling(this.folded)) : this.folded;
  }

  /** Every form computed so far. */
  get made(): readonly FoldedText[] {
    return this.#plain === null || this.#plain === this.folded ? [this.folded] : [this.folded, this.#plain];
  }
}

/** The forms in which detectors read one text. */
export class Readings {
  readonly #text: string;
  readonly #untagged: Reading;
  /** Null if the text has no tags, so that there is only one reading. */
  readonly #tagged: Reading | null;

  constructor(text: string, isJson: boolean) {
    const fold = isJson ? foldJsonText : foldText;
    this.#text = text;
    this.#untagged = new Reading(fold(text));
    // Folding removes tags, so an unchanged length means that there are none.
    const tagged = this.#untagged.folded.text.length === text.length ? null : foldTextWithTags(text, fold);
    this.#tagged = tagged === null ? null : new Reading(tagged);
  }

  get hasTags(): boolean {
    return this.#tagged !== null;
  }

  of(detector: Detector): FoldedText {
    return detector.reads === "as it is" ? unfolded(this.#text) : this.#untagged.of(detector);
  }

  /** The reading that includes the tags' text, if there is any. */
  withTags(detector: Detector): FoldedText {
    return (this.#tagged ?? this.#untagged).of(detector);
  }

  /** Every reading for the detector. */
  allOf(detector: Detector): readonly FoldedText[] {
    return this.#tagged === null || detector.reads === "as it is" ? [this.of(detector)] : [this.of(detector), this.#tagged.of(detector)];
  }

  /** Every folded form computed so far. */
  get made(): readonly FoldedText[] {
    return this.#tagged === null ? this.#untagged.made : [...this.#untagged.made, ...this.#tagged.made];
  }
}
