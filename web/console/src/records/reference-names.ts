import { useQuery } from "@tanstack/react-query";
import type { RecordKind } from "./record-kind.ts";
import { choicesQuery, referenceTo, shownName } from "./records-client.ts";

/** Names of records of a kind by what others say to mean them; none for those that are gone, or not for this reader. */
export function useReferenceNames(kind: RecordKind): (id: string) => string | undefined {
  const { data } = useQuery({ ...choicesQuery(kind), retry: false });
  return (id) => {
    const found = data?.items.find((record) => referenceTo(kind, record) === id);
    return found === undefined ? undefined : shownName(kind, found);
  };
}
