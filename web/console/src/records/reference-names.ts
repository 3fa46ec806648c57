import type { RecordKind } from "./record-kind.ts";
import { useChoices } from "./choices.ts";
import { referenceTo, shownName } from "./records-client.ts";

/** Names of records of a kind by what others say to mean them; none for those that are gone, or not for this reader. */
export function useReferenceNames(kind: RecordKind, ids: readonly string[]): (id: string) => string | undefined {
  const { items } = useChoices(kind, ids);
  return (id) => {
    const found = items.find((record) => referenceTo(kind, record) === id);
    return found === undefined ? undefined : shownName(kind, found);
  };
}
