const UNITS = 0x10000;

const CODES = each();
/** Every UTF-16 code unit, at its own index. */
const ALL = Buffer.from(CODES.buffer).toString("utf16le");

function each(): Uint16Array<ArrayBuffer> {
  const codes = new Uint16Array(UNITS);
  for (let code = 0; code < UNITS; code++) codes[code] = code;
  return codes;
}

/**
 * A table with 1 for each code unit below `end` that is in the regular-expression class `characters`. Testing one at a
 * time would make startup ten times as slow.
 */
export function unitsOf(characters: string, end = UNITS): Uint8Array<ArrayBuffer> {
  const table = new Uint8Array(end);
  for (const { 0: run, index } of ALL.slice(0, end).matchAll(new RegExp(`[${characters}]+`, "gu")))
    table.fill(1, index, index + run.length);
  return table;
}

/** Each code unit in lower case. */
export function lowerUnits(): Uint16Array<ArrayBuffer> {
  const table = CODES.slice();
  for (const { 0: upper, index } of ALL.matchAll(/\p{Changes_When_Lowercased}/gu)) table[index] = upper.toLowerCase().charCodeAt(0);
  return table;
}
