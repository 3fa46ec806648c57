/** A vendor's JSON as the tests read it. */
export type Loose = Record<string, any>;

export function listOf(value: unknown): Loose[] {
  return Array.isArray(value) ? value : [];
}

/** Whether a member with this name, or a `type` with this value, occurs anywhere inside. */
export function has(value: unknown, name: string): boolean {
  const text = JSON.stringify(value) ?? "";
  return text.includes(`"${name}":`) || text.includes(`"type":"${name}"`);
}
