import type { Call } from "../call.ts";

/** Puts a word into the `tags` of the call's row, once. */
export function addTag({ row }: Pick<Call, "row">, name: string): void {
  const tags = (row.tags as string[] | undefined) ?? [];
  if (!tags.includes(name)) row.tags = [...tags, name];
}
