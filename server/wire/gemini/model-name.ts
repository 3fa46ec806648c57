/** A model's name as Google's bodies write it. */
export function qualifiedModel(name: string): string {
  return name.includes("/") ? name : `models/${name}`;
}

/**
 * The generation a model's name tells, for example 2.5; the newest for a Gemini that tells none, null for a model that
 * is no Gemini. What a model takes for thinking depends on it.
 */
export function generationOf(name: string): number | null {
  const [gemini, generation] = /gemini-?(\d+(?:\.\d+)?)?/i.exec(name) ?? [];
  if (gemini === undefined) return null;
  return generation === undefined ? Number.POSITIVE_INFINITY : Number(generation);
}
