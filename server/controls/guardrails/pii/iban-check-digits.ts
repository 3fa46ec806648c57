/** ISO 7064 mod 97-10, with the first four characters moved to the end and letters as two digits. */
export function hasIbanCheckDigits(iban: string): boolean {
  let remainder = 0;
  for (let i = 0; i < iban.length; i++) {
    const code = iban.charCodeAt((i + 4) % iban.length);
    remainder = code <= 57 ? (remainder * 10 + code - 48) % 97 : (remainder * 100 + code - 55) % 97;
  }
  return remainder === 1;
}
