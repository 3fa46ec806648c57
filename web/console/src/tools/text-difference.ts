export interface DifferencePart {
  readonly kind: "same" | "gone" | "new";
  readonly text: string;
}

/** Texts with more pieces are shown as wholly replaced: the comparison is quadratic. */
const MAX_PIECES = 2_000;

/** A diff of two texts, by words (and the space between them) or by lines. */
export function textDifference(before: string, after: string, by: "words" | "lines"): readonly DifferencePart[] {
  const pieces = (text: string): readonly string[] => text.match(by === "words" ? /\S+|\s+/g : /[^\n]*\n|[^\n]+/g) ?? [];
  const [old, now] = [pieces(before), pieces(after)];
  if (old.length > MAX_PIECES || now.length > MAX_PIECES) return merged([part("gone", before), part("new", after)]);
  const lengths = commonLengths(old, now);
  const width = now.length + 1;
  const parts: DifferencePart[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      parts.push(part("same", old[i] ?? ""));
      i++;
      j++;
    } else if (j >= now.length || (i < old.length && (lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0)))
      parts.push(part("gone", old[i++] ?? ""));
    else parts.push(part("new", now[j++] ?? ""));
  }
  return merged(parts);
}

const part = (kind: DifferencePart["kind"], text: string): DifferencePart => ({ kind, text });

/** Table of the longest common subsequence lengths for each pair of suffixes. */
function commonLengths(old: readonly string[], now: readonly string[]): Uint16Array {
  const width = now.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      lengths[i * width + j] =
        old[i] === now[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0);
  return lengths;
}

function merged(parts: readonly DifferencePart[]): readonly DifferencePart[] {
  const joined: DifferencePart[] = [];
  for (const one of parts) {
    const last = joined.at(-1);
    if (one.text === "") continue;
    if (last?.kind === one.kind) joined[joined.length - 1] = part(one.kind, last.text + one.text);
    else joined.push(one);
  }
  return joined;
}

/** JSON with sorted member names, so that only meaningful differences show. */
export function sortedJson(value: unknown): string {
  const sorted = (one: unknown): unknown =>
    Array.isArray(one)
      ? one.map(sorted)
      : typeof one === "object" && one !== null
        ? Object.fromEntries(
            Object.entries(one)
              .sort(([a], [b]) => (a < b ? -1 : 1))
              .map(([name, inner]) => [name, sorted(inner)]),
          )
        : one;
  return JSON.stringify(sorted(value), null, 2) ?? "";
}
