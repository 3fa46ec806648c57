type WrittenJson = typeof JSON & { rawJSON?: (text: string) => unknown };

/** JSON with a line for each member, each number in the digits it came with where the browser can tell them; else the text as it is. */
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
