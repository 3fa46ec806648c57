import type { RecordKind } from "./record-kind.ts";
import { useChoices } from "./choices.ts";
import { referenceTo, shownName } from "./records-client.ts";

/** Names of records of a kind by reference; undefined for records that do not exist or may not be read. */
export function useReferenceNames(kind: RecordKind, ids: readonly string[]): (id: string) => string | undefined {
  const { items } = useChoices(kind, ids);
  return (id) => {
    const found = items.find((record) => referenceTo(kind, record) === id);
    return found === undefined ? undefined : shownName(kind, found);
  };
}
