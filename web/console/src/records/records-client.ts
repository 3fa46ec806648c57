import { queryOptions } from "@tanstack/react-query";
import { adminApi } from "../admin-client.ts";
import type { ApiDocument } from "./api-schema.ts";
import type { RecordKind } from "./record-kind.ts";

export type ApiRecord = Readonly<Record<string, unknown>>;

/** One request of the admin API by an address that is put together; refused ones throw `ApiError`. */
export async function askRecords(method: string, path: string, body?: unknown): Promise<ApiRecord> {
  const response = await adminApi.send(path, {
    method,
    ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  return response.status === 204 ? {} : ((await response.json()) as ApiRecord);
}

/** The admin API's own description of itself, from which forms are drawn. */
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

/** What can be chosen where a member names one of the kind: its first page, or that of what is searched. */
export const choicesQuery = (kind: RecordKind, search = "") =>
  queryOptions({ queryKey: [...recordsKey(kind), "choices", search], queryFn: () => readRecords(kind, search), staleTime: 10_000 });

/** The one record that a reference means. */
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

/** What another record says to mean this one. */
export function referenceTo(kind: RecordKind, record: ApiRecord): string {
  return String(record[kind.referredBy ?? "id"]);
}
