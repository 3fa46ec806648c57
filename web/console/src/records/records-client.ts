import { ApiError } from "@gatehouse/web-kit/api-error.ts";
import { queryOptions } from "@tanstack/react-query";
import { adminApi } from "../admin-client.ts";
import { type ApiDocument, memberLabel } from "./api-schema.ts";
import type { RecordKind } from "./record-kind.ts";

export type ApiRecord = Readonly<Record<string, unknown>>;

/** One request of the admin API by an address that is put together; refused ones throw `ApiError`. */
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

/** Somebody else was first: what was to be saved was drawn from what is no more. `now` is what is there. */
export class ChangedByOthers extends Error {
  readonly now: ApiRecord;

  constructor(what: string, now: ApiRecord) {
    super(`Somebody else has changed ${what} meanwhile. Nothing was saved.`);
    this.name = "ChangedByOthers";
    this.now = now;
  }
}

/** Each time somebody else was quicker, in the milliseconds between a look and a change. */
const MOST_LOOKS = 5;

/**
 * Changes what stands at an address, unless `overwritten` names what would be lost by that. What is written between the look and
 * the change is refused by the gateway, and looked at in its turn.
 */
export async function changeAsRead(
  path: string,
  body: ApiRecord,
  overwritten: (now: ApiRecord) => string | null,
  method: "PATCH" | "PUT" = "PATCH",
): Promise<ApiRecord> {
  for (let looks = 1; ; looks++) {
    const read = await adminApi.send(path);
    const tag = read.headers.get("etag");
    const now = (await read.json()) as ApiRecord;
    const lost = overwritten(now);
    if (lost !== null) throw new ChangedByOthers(lost, now);
    try {
      return await askRecords(method, path, body, tag === null ? {} : { "if-match": tag });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 412 || looks === MOST_LOOKS) throw error;
    }
  }
}

/** Of the members of a change, which are no longer as they were when it began. */
export function changedSince(begun: ApiRecord, changes: ApiRecord): (now: ApiRecord) => string | null {
  return (now) => {
    const lost = Object.keys(changes).filter((member) => JSON.stringify(now[member]) !== JSON.stringify(begun[member]));
    return lost.length === 0 ? null : lost.map((member) => memberLabel(member).toLowerCase()).join(", ");
  };
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
