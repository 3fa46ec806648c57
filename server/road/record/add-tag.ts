import type { Call } from "../call.ts";

export function hasTag({ row }: Pick<Call, "row">, name: string): boolean {
  return (row.tags as string[] | undefined)?.includes(name) === true;
}

/** Adds a tag to the call's row, once. */
export function addTag({ row }: Pick<Call, "row">, name: string): void {
  const tags = (row.tags as string[] | undefined) ?? [];
  if (!tags.includes(name)) row.tags = [...tags, name];
}
