import type { PreparedRequest } from "./model-request.ts";

const MAX_DROPPED_CHARACTERS = 2_000;

/** The header that tells the caller which of its parameters were not sent to the provider. */
export function droppedHeader({ dropped }: PreparedRequest): Record<string, string> {
  return dropped.length === 0 ? {} : { "x-gw-dropped-parameters": listed([...new Set(dropped.map(spelled))]) };
}

/** Names come from the caller and may contain characters that a header cannot. */
function spelled(name: string): string {
  return name.toWellFormed().replaceAll(/[^\x20-\x24\x26-\x7e]/gu, encodeURIComponent);
}

/** Bounded, because clients and proxies reject answers with headers of some kilobytes, and each part of a request can hold a long name. */
function listed(names: readonly string[]): string {
  let shown = 0;
  for (let length = 0; shown < names.length; shown++) {
    length += (names[shown] as string).length + 2;
    if (length > MAX_DROPPED_CHARACTERS) break;
  }
  const more = names.length - shown;
  return [...names.slice(0, shown), ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}
