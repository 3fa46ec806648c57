import { foldedAgain, type FoldedText, shortened, unfolded } from "../text/folded-text.ts";
import { LATIN_LOOK_ALIKES } from "../text/look-alikes.ts";

/** Ranges with letters that are read as others. */
const LETTERS = [
  [0x80, 0x530],
  [0x1d00, 0x2000],
  [0x2070, 0x2500],
  [0xa720, 0xa800],
] as const;
/** Combining marks used on letters of any script; others belong to a single script. */
const MARKS = [
  [0x300, 0x370],
  [0x483, 0x48a],
  [0x1ab0, 0x1b00],
  [0x1dc0, 0x1e00],
  [0x20d0, 0x2100],
  [0xfe20, 0xfe30],
] as const;
/** Small capitals, phonetic letters and letters with a stroke, which have no Unicode decomposition. */
const OTHERS = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢғɑɡıłøđħŧƀ";
const LATIN_OF_OTHERS = "abcdefghijklmnopqrstuvwyzfagilodhtb";

/** Squared and circled letters outside the BMP: the high surrogate, and where each alphabet's low surrogates begin. */
const ENCLOSED = 0xd83c;
const ALPHABETS = [0xdd10, 0xdd30, 0xdd50, 0xdd70, 0xdde6];

/** Plain spelling of each code unit; 0 if it is removed. */
let plain: Uint16Array | null = null;

function plainUnits(): Uint16Array {
  const table = new Uint16Array(65_536).map((_, code) => code);
  for (const [from, to] of LETTERS)
    for (let code = from; code < to; code++) table[code] = plainLetter(String.fromCharCode(code)).charCodeAt(0);
  for (const [from, to] of MARKS) table.fill(0, from, to);
  return table;
}

/** A letter without marks, as the Latin letter that it is a form of or resembles; any other character unchanged. */
function plainLetter(character: string): string {
  const [, base, enclosed] = /^(?:(.)\p{M}*|\(([a-z])\))$/u.exec(character.normalize("NFKD")) ?? [];
  const letter = base ?? enclosed ?? character;
  const lower = letter.toLowerCase();
  // Maps both cases, so that a signal in a script with two cases is found in either.
  const latin = LATIN_LOOK_ALIKES.get(letter) ?? LATIN_LOOK_ALIKES.get(lower) ?? LATIN_OF_OTHERS[OTHERS.indexOf(lower)];
  return latin ?? (/^[a-z]$/i.test(letter) ? letter : character);
}

/** The letter with this low surrogate; 0 if none. */
function enclosedLetter(low: number): number {
  const first = ALPHABETS.find((start) => low >= start && low < start + 26);
  return first === undefined ? 0 : 97 + low - first;
}

const BEYOND_ASCII = /[^\0-\x7f]/;

/**
 * The copy of a text that phrases are searched in: letters without accents and marks, Cyrillic and Greek look-alikes as Latin, and
 * circled, squared and small-capital letters as plain ones. Signals must be spelled the same way (`spelledPlainly`) to be found.
 */
export function plainSpelling(folded: FoldedText): FoldedText {
  const { text } = folded;
  if (!BEYOND_ASCII.test(text)) return folded;
  const units = (plain ??= plainUnits());
  const out = new Uint16Array(text.length);
  /** Original offset of each character, kept once one was removed. */
  let places: number[] | null = null;
  let length = 0;
  let differs = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    let unit = units[code] ?? 0;
    const enclosed = code === ENCLOSED ? enclosedLetter(text.charCodeAt(at + 1)) : 0;
    if (enclosed !== 0) unit = enclosed;
    if (unit !== code) differs = true;
    if (unit === 0 || enclosed !== 0) places ??= Array.from({ length }, (_, place) => place);
    if (unit !== 0) {
      places?.push(at);
      out[length++] = unit;
    }
    if (enclosed !== 0) at++;
  }
  if (!differs) return folded;
  const spelled = Buffer.from(out.buffer, 0, 2 * length).toString("utf16le");
  const from = places;
  return foldedAgain(folded, from === null ? unfolded(spelled) : shortened(text, spelled, (at) => from[at] ?? text.length));
}

/** A pattern's source, or a prefix, in the spelling that texts are given. */
export const spelledPlainly = (source: string): string => plainSpelling(unfolded(source)).text;
