const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** A new handle from the time and 80 random bits; it reveals neither session nor name. */
export function newUlid(now = Date.now()): string {
  let time = "";
  for (let rest = now, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) time = ALPHABET.charAt(rest % 32) + time;
  return time + [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => ALPHABET.charAt(byte % 32)).join("");
}
