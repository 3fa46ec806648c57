/** A model name as used in Google's bodies. */
export function qualifiedModel(name: string): string {
  return name.includes("/") ? name : `models/${name}`;
}

/**
 * The Gemini generation in a model name, such as 2.5, which determines its thinking settings; Infinity (newest) if the
 * name has none, null if it is not a Gemini model.
 */
export function generationOf(name: string): number | null {
  const [gemini, generation] = /gemini-?(\d+(?:\.\d+)?)?/i.exec(name) ?? [];
  if (gemini === undefined) return null;
  return generation === undefined ? Number.POSITIVE_INFINITY : Number(generation);
}
