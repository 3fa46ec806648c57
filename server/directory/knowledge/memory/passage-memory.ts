import { Numbers } from "./numbers.ts";
import { WordPlaces } from "./word-places.ts";

/** A passage as searched in memory; its text stays in the database. */
export interface RememberedPassage {
  readonly ordinal: number;
  /** Four bytes per word: three of its digest and one for its count. */
  readonly terms: Uint8Array;
  readonly modelId: string | null;
  /** One bit for each component of its vector. */
  readonly signs: PackedSigns | null;
}

/** The signs of a vector, 32 per word; the last word is padded with zeros. */
export interface PackedSigns {
  readonly bits: number;
  readonly words: Uint32Array;
}

/** Comparable signs: of the same model and vector length. */
export interface SignPlane {
  readonly width: number;
  readonly passages: Numbers;
  readonly words: Numbers;
}

interface HeldDocument {
  readonly slot: number;
  readonly changedIn: number;
}

const MIN_DEAD = 1_000;
const DEAD_SHARE = 0.25;
const BYTES_A_DOCUMENT = 400;

export const planeOf = (modelId: string, bits: number) => `${modelId} ${bits}`;

/**
 * The passages of one knowledge base. Every search examines the signs of all passages and all places of its words, whoever
 * may read them, so that timing does not reveal what a reader may not see.
 */
export class PassageMemory {
  /** By passage number: its document's slot, its ordinal within the document, and its number of words. */
  document = new Numbers();
  ordinal = new Numbers();
  size = new Numbers();
  places = new WordPlaces();
  planes = new Map<string, SignPlane>();
  /** By document slot; null for a removed document. */
  documentIds: (string | null)[] = [];
  principals: (readonly string[] | null)[] = [];
  private held = new Map<string, HeldDocument>();
  private passagesOf: number[] = [];
  private dead = 0;

  get documents(): number {
    return this.held.size;
  }

  get bytes(): number {
    const planes = [...this.planes.values()].flatMap(({ passages, words }) => [passages, words]);
    const numbers = [this.document, this.ordinal, this.size, this.places, ...planes];
    return numbers.reduce((sum, { bytes }) => sum + bytes, this.documentIds.length * BYTES_A_DOCUMENT);
  }

  ids(): Iterable<string> {
    return this.held.keys();
  }

  /** Whether the document is held as of that transaction. */
  has(id: string, changedIn: number): boolean {
    return this.held.get(id)?.changedIn === changedIn;
  }

  put(id: string, changedIn: number, principals: readonly string[] | null, passages: readonly RememberedPassage[]): void {
    this.remove(id);
    const slot = this.documentIds.push(id) - 1;
    this.principals.push(principals);
    this.passagesOf.push(passages.length);
    this.held.set(id, { slot, changedIn });
    for (const passage of passages) this.add(slot, passage);
  }

  remove(id: string): void {
    const before = this.held.get(id);
    if (before === undefined) return;
    this.held.delete(id);
    this.documentIds[before.slot] = null;
    this.principals[before.slot] = null;
    this.dead += this.passagesOf[before.slot] ?? 0;
    if (this.dead > MIN_DEAD && this.dead > this.document.length * DEAD_SHARE) this.compact();
  }

  private add(slot: number, { ordinal, terms, modelId, signs }: RememberedPassage): void {
    const number = this.document.length;
    const view = new DataView(terms.buffer, terms.byteOffset, terms.byteLength);
    let size = 0;
    for (let at = 0; at + 4 <= terms.byteLength; at += 4) {
      const term = view.getUint32(at);
      size += term & 255;
      this.places.add(term >>> 8, term & 255, number);
    }
    this.document.push(slot);
    this.ordinal.push(ordinal);
    this.size.push(size);
    if (modelId === null || signs === null) return;
    const key = planeOf(modelId, signs.bits);
    const plane = this.planes.get(key) ?? { width: signs.words.length, passages: new Numbers(), words: new Numbers() };
    this.planes.set(key, plane);
    plane.passages.push(number);
    plane.words.append(signs.words);
  }

  /** Frees the memory of removed documents. */
  private compact(): void {
    const [before, slots] = [{ ...this }, new Map<number, number>()];
    this.documentIds = [];
    this.principals = [];
    this.passagesOf = [];
    this.held = new Map();
    for (const [id, { slot, changedIn }] of before.held) {
      slots.set(slot, this.documentIds.push(id) - 1);
      this.principals.push(before.principals[slot] ?? null);
      this.passagesOf.push(before.passagesOf[slot] ?? 0);
      this.held.set(id, { slot: slots.get(slot) as number, changedIn });
    }
    [this.document, this.ordinal, this.size, this.dead] = [new Numbers(), new Numbers(), new Numbers(), 0];
    const numbers = new Map<number, number>();
    for (let i = 0; i < before.document.length; i++) {
      const slot = slots.get(before.document.data[i] as number);
      if (slot === undefined) continue;
      numbers.set(i, this.document.length);
      this.document.push(slot);
      this.ordinal.push(before.ordinal.data[i] as number);
      this.size.push(before.size.data[i] as number);
    }
    this.places = before.places.renumbered(numbers);
    this.planes = new Map();
    for (const [key, { width, passages, words }] of before.planes) {
      const kept: SignPlane = { width, passages: new Numbers(), words: new Numbers() };
      for (let i = 0; i < passages.length; i++) {
        const number = numbers.get(passages.data[i] as number);
        if (number === undefined) continue;
        kept.passages.push(number);
        kept.words.append(words.data.subarray(i * width, (i + 1) * width));
      }
      if (kept.passages.length > 0) this.planes.set(key, kept);
    }
  }
}
