import { useQueries, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { RecordKind } from "./record-kind.ts";
import { type ApiRecord, choiceQuery, choicesQuery, referenceTo } from "./records-client.ts";

/** How many referenced records beyond the first page are fetched one by one. */
const MAX_ALONE = 50;
const TYPED_MS = 200;

export interface Choices {
  readonly items: readonly ApiRecord[];
  readonly isPending: boolean;
  readonly isSuccess: boolean;
  /** The total number, if it is more than `items` can hold; else null. */
  readonly beyond: number | null;
}

function useTyped(text: string): string {
  const [typed, setTyped] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setTyped(text), TYPED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return typed;
}

/**
 * Records of a kind to choose from: all if they fit on one page, otherwise those that match `text`; records in `named` are always included.
 */
export function useChoices(kind: RecordKind, named: readonly string[], text = ""): Choices {
  const first = useQuery({ ...choicesQuery(kind), retry: false });
  const search = useTyped(text.trim());
  const isMore = first.isSuccess && first.data.total > first.data.items.length;
  const isSought = isMore && search !== "" && kind.noSearch !== true;
  const found = useQuery({ ...choicesQuery(kind, search), enabled: isSought, retry: false });
  const known = new Map([...(first.data?.items ?? []), ...(found.data?.items ?? [])].map((record) => [referenceTo(kind, record), record]));
  const missing = isMore ? named.filter((reference) => !known.has(reference)).slice(0, MAX_ALONE) : [];
  const alone = useQueries({ queries: missing.map((reference) => choiceQuery(kind, reference)) });
  for (const { data } of alone) if (data != null) known.set(referenceTo(kind, data), data);
  return {
    items: [...known.values()],
    isPending: first.isPending || (isSought && found.isFetching),
    isSuccess: first.isSuccess,
    beyond: isMore ? first.data.total : null,
  };
}
