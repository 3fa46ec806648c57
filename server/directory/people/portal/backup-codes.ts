import { randomInt } from "node:crypto";

/** Without the letters and digits that are taken for one another. */
const ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz";
const COUNT = 10;
const LENGTH = 12;

/** Ten codes. The first character is the slot of the code, so that checking one costs one hash; the rest is random. */
export function newBackupCodes(): string[] {
  return Array.from({ length: COUNT }, (_, slot) => {
    const text = Array.from({ length: LENGTH - 1 }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
    return `${slot}${text.slice(0, 3)}-${text.slice(3, 7)}-${text.slice(7)}`;
  });
}

/** What of a code is hashed, and where its hash stands; null for what is no such code. Hyphens, spaces and case do not count. */
export function readBackupCode(code: string): { slot: number; text: string } | null {
  const text = code.toLowerCase().replaceAll(/[\s-]/g, "");
  return /^\d[2-9a-z]{11}$/.test(text) ? { slot: Number(text[0]), text } : null;
}
