/** Yields the member names and texts of a JSON body, as its provider reads them; a body that is not JSON unchanged. */
export function* textsToCount(body: string): Generator<string> {
  const left: unknown[] = [];
  try {
    left.push(JSON.parse(body));
  } catch {
    yield body;
  }
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === "string") yield value;
    else if (Array.isArray(value)) for (const item of value) left.push(item);
    else if (typeof value === "object" && value !== null)
      for (const [name, member] of Object.entries(value)) {
        yield name;
        left.push(member);
      }
    else yield String(value);
  }
}
