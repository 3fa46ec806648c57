import { randomInt } from "node:crypto";

/** Omits easily confused characters. */
const ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz";
const COUNT = 10;
const LENGTH = 12;

/** Ten codes. Each starts with its slot number, so that checking one takes a single hash; the rest is random. */
export function newBackupCodes(): string[] {
  return Array.from({ length: COUNT }, (_, slot) => {
    const text = Array.from({ length: LENGTH - 1 }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
    return `${slot}${text.slice(0, 3)}-${text.slice(3, 7)}-${text.slice(7)}`;
  });
}

/** The text of a code to hash and the slot of its stored hash; null if it is not a code. Ignores hyphens, spaces and case. */
export function readBackupCode(code: string): { slot: number; text: string } | null {
  const text = code.toLowerCase().replaceAll(/[\s-]/g, "");
  return /^\d[2-9a-z]{11}$/.test(text) ? { slot: Number(text[0]), text } : null;
}
