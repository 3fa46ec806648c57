const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,9}))?$/;

/**
 * A JSON number that this process would take for another one, in the one spelling all texts of it share; null for a
 * number it reads exactly. `source` is how the text writes it, `value` what was read.
 */
function inexactNumber(source: string, value: number): string | null {
  const written = normal(source);
  return written === normal(String(value)) ? null : written;
}

/** One text for all spellings of a decimal. An exponent nobody counts with stays as it is spelled. */
function normal(source: string): string {
  const match = NUMBER.exec(source);
  if (match === null) return source;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const kept = digits.replace(/0+$/, "");
  return kept === "" ? `${sign}0` : `${sign}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`;
}

type Reviver = Parameters<typeof JSON.parse>[1];

/** As `JSON.parse`, with numbers that this process would round as `replace` says; it is given their source text. */
export function parsedExactly(json: string, replace: (source: string, written: string) => unknown): unknown {
  const revive = (_name: string, value: unknown, { source = "" }: { readonly source?: string } = {}): unknown => {
    const written = typeof value === "number" ? inexactNumber(source, value) : null;
    return written === null ? value : replace(source, written);
  };
  return JSON.parse(json, revive as Reviver);
}

/** A value that is written as JSON again with every digit it came with. */
export function exactValue(json: string): unknown {
  return parsedExactly(json, (source) => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(source));
}
