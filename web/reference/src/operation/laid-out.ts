type WrittenJson = typeof JSON & { rawJSON?: (text: string) => unknown };

/** Indented JSON, with the original digits of numbers where the browser can preserve them; other text is returned unchanged. */
export function laidOut(text: string): string {
  const { rawJSON } = JSON as WrittenJson;
  const asWritten = (_name: string, value: unknown, context?: { source?: string }) =>
    typeof value === "number" && context?.source !== undefined && rawJSON !== undefined ? rawJSON(context.source) : value;
  try {
    return JSON.stringify(JSON.parse(text, asWritten as (name: string, value: unknown) => unknown), null, 2);
  } catch {
    return text;
  }
}
