import type { RecordedCall } from "../../store/assurance/replay.ts";

export type ReplayFormat = "chat" | "messages" | "responses" | "gemini";

const ENDINGS: readonly (readonly [RegExp, ReplayFormat])[] = [
  [/\/chat\/completions$/, "chat"],
  [/\/messages$/, "messages"],
  [/\/responses$/, "responses"],
  [/:(?:streamG|g)enerateContent$/, "gemini"],
];

export function recordedFormatOf(
  { target_url: target, endpoint }: RecordedCall,
  body: Readonly<Record<string, unknown>>,
): ReplayFormat | null {
  for (const address of [target, endpoint]) {
    if (address === null) continue;
    const format = ENDINGS.find(([ending]) => ending.test(address))?.[1];
    if (format === undefined) continue;
    return fits(format, body) ? format : null;
  }
  return null;
}

function fits(format: ReplayFormat, body: Readonly<Record<string, unknown>>): boolean {
  if (format === "gemini") return Array.isArray(body.contents);
  return format === "responses" ? body.input !== undefined : Array.isArray(body.messages);
}
