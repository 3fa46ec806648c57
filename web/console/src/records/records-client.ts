import { ApiError } from "@gatehouse/web-kit/api-error.ts";
import { queryOptions } from "@tanstack/react-query";
import { adminApi } from "../admin-client.ts";
import { type ApiDocument, memberLabel } from "./api-schema.ts";
import type { RecordKind } from "./record-kind.ts";

export type ApiRecord = Readonly<Record<string, unknown>>;

/** Sends a request to a dynamically built path of the admin API; throws `ApiError` if it is refused. */
export async function askRecords(
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<ApiRecord> {
  const response = await adminApi.send(path, {
    method,
    ...(body === undefined ? {} : { headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) }),
  });
  return response.status === 204 ? {} : ((await response.json()) as ApiRecord);
}

/** Someone else changed what the edit was based on. `now` is the current state. */
export class ChangedByOthers extends Error {
  readonly now: ApiRecord;

  constructor(what: string, now: ApiRecord) {
    super(`Somebody else has changed ${what} meanwhile. Nothing was saved.`);
    this.name = "ChangedByOthers";
    this.now = now;
  }
}

/** Most attempts; each conflict means someone else wrote in the milliseconds between read and write. */
const MAX_PAGES = 5;

/**
 * Optimistic update: reads the record, then writes it unless `overwritten` names changes that would be lost. If the record changes in
 * between, the gateway refuses the write and the record is read again.
 */
export async function changeAsRead(
  path: string,
  body: ApiRecord,
  overwritten: (now: ApiRecord) => string | null,
  method: "PATCH" | "PUT" = "PATCH",
): Promise<ApiRecord> {
  for (let attempt = 1; ; attempt++) {
    const read = await adminApi.send(path);
    const tag = read.headers.get("etag");
    const now = (await read.json()) as ApiRecord;
    const lost = overwritten(now);
    if (lost !== null) throw new ChangedByOthers(lost, now);
    try {
      return await askRecords(method, path, body, tag === null ? {} : { "if-match": tag });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 412 || attempt === MAX_PAGES) throw error;
    }
  }
}

/** Finds changed members that someone else has changed since `begun`; null if there are none. */
export function changedSince(begun: ApiRecord, changes: ApiRecord): (now: ApiRecord) => string | null {
  return (now) => {
    const lost = Object.keys(changes).filter((member) => JSON.stringify(now[member]) !== JSON.stringify(begun[member]));
    return lost.length === 0 ? null : lost.map((member) => memberLabel(member).toLowerCase()).join(", ");
  };
}

/** The admin API's own document, from which forms are generated. */
export const documentQuery = queryOptions({
  queryKey: ["openapi"],
  queryFn: async () => (await askRecords("GET", "/openapi.json")) as unknown as ApiDocument,
  staleTime: Number.POSITIVE_INFINITY,
});

export interface RecordList {
  readonly items: readonly ApiRecord[];
  readonly total: number;
}

const PAGE = 200;

export async function readRecords(kind: RecordKind, search: string, page = 1): Promise<RecordList> {
  const query = new URLSearchParams({ page: String(page), page_size: String(PAGE), ...(search === "" ? {} : { search }) });
  const answer = await askRecords("GET", `${kind.path}?${query}`);
  const items = answer[kind.list];
  return { items: Array.isArray(items) ? items : [], total: typeof answer["total"] === "number" ? answer["total"] : 0 };
}

export const recordsKey = (kind: RecordKind) => ["records", kind.slug] as const;

export const recordQuery = (kind: RecordKind, id: string) =>
  queryOptions({ queryKey: [...recordsKey(kind), "one", id], queryFn: () => askRecords("GET", `${kind.path}/${encodeURIComponent(id)}`) });

/** Choices for a reference to this kind: the first page, or that of a search. */
export const choicesQuery = (kind: RecordKind, search = "") =>
  queryOptions({ queryKey: [...recordsKey(kind), "choices", search], queryFn: () => readRecords(kind, search), staleTime: 10_000 });

/** The record that a reference identifies. */
export const choiceQuery = (kind: RecordKind, reference: string) =>
  queryOptions({
    queryKey: [...recordsKey(kind), "choice", reference],
    queryFn: async (): Promise<ApiRecord | null> =>
      kind.referredBy === undefined
        ? askRecords("GET", `${kind.path}/${encodeURIComponent(reference)}`)
        : ((await readRecords(kind, reference)).items.find((record) => referenceTo(kind, record) === reference) ?? null),
    staleTime: 10_000,
    retry: false,
  });

export function shownName(kind: RecordKind, record: ApiRecord): string {
  const name = record[kind.nameMember];
  return typeof name === "string" ? name : String(record["id"]);
}

/** The value by which other records refer to this one. */
export function referenceTo(kind: RecordKind, record: ApiRecord): string {
  return String(record[kind.referredBy ?? "id"]);
}
