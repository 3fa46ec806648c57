import { foldedAgain, type FoldedText, shortened, unfolded } from "../text/folded-text.ts";
import { LATIN_LOOK_ALIKES } from "../text/look-alikes.ts";

/** Where letters stand that are read as others. */
const LETTERS = [
  [0x80, 0x530],
  [0x1d00, 0x2000],
  [0x2070, 0x2500],
  [0xa720, 0xa800],
] as const;
/** Marks that are put on letters of any kind. Others belong to the writing of one script. */
const MARKS = [
  [0x300, 0x370],
  [0x483, 0x48a],
  [0x1ab0, 0x1b00],
  [0x1dc0, 0x1e00],
  [0x20d0, 0x2100],
  [0xfe20, 0xfe30],
] as const;
/** Small capitals, letters of phonetics and those with a stroke, which no decomposition tells of. */
const OTHERS = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢғɑɡıłøđħŧƀ";
const LATIN_OF_OTHERS = "abcdefghijklmnopqrstuvwyzfagilodhtb";

/** Letters in squares and circles of which each takes two halves: the first half, and where each alphabet's second halves begin. */
const ENCLOSED = 0xd83c;
const ALPHABETS = [0xdd10, 0xdd30, 0xdd50, 0xdd70, 0xdde6];

/** For each character how it is spelled plainly; 0 where it vanishes. */
let plain: Uint16Array | null = null;

function plainUnits(): Uint16Array {
  const table = new Uint16Array(65_536).map((_, code) => code);
  for (const [from, to] of LETTERS)
    for (let code = from; code < to; code++) table[code] = plainLetter(String.fromCharCode(code)).charCodeAt(0);
  for (const [from, to] of MARKS) table.fill(0, from, to);
  return table;
}

/** A letter without its marks, as the Latin one that it is a form of or looks like; any other character as it is. */
function plainLetter(character: string): string {
  const [, base, enclosed] = /^(?:(.)\p{M}*|\(([a-z])\))$/u.exec(character.normalize("NFKD")) ?? [];
  const letter = base ?? enclosed ?? character;
  const lower = letter.toLowerCase();
  // A signal of a script with two cases is found in both.
  const latin = LATIN_LOOK_ALIKES.get(letter) ?? LATIN_LOOK_ALIKES.get(lower) ?? LATIN_OF_OTHERS[OTHERS.indexOf(lower)];
  return latin ?? (/^[a-z]$/i.test(letter) ? letter : character);
}

/** The letter whose second half this is; 0 of others. */
function enclosedLetter(low: number): number {
  const first = ALPHABETS.find((start) => low >= start && low < start + 26);
  return first === undefined ? 0 : 97 + low - first;
}

const BEYOND_ASCII = /[^\0-\x7f]/;

/**
 * The copy of a text that phrases are looked for in: letters without accents and other marks, those of Cyrillic and Greek that look
 * like Latin ones as these, and letters in circles, squares and small capitals as letters. What a signal says has to be spelled the
 * same way (`spelledPlainly`), or it is not found.
 */
export function plainSpelling(folded: FoldedText): FoldedText {
  const { text } = folded;
  if (!BEYOND_ASCII.test(text)) return folded;
  const units = (plain ??= plainUnits());
  const out = new Uint16Array(text.length);
  /** Where each character stood, once one has vanished. */
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

/** The source of a pattern, or a beginning of what it matches, as texts are spelled for it. */
export const spelledPlainly = (source: string): string => plainSpelling(unfolded(source)).text;
