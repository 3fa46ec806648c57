import { listOf, type PageQuery } from "@gatehouse/contracts/conventions";
import type { Permission } from "@gatehouse/contracts/roles";
import type { z } from "zod";
import type { TenantRecordTable } from "../../directory/tenants/tenants.ts";
import type { Records } from "../../directory/writes/record-spec.ts";
import { type AdminCall, operation, type AdminOperation } from "./operation.ts";
import { listAnswer, pageOf } from "./paging.ts";

interface ResourceSpec<Query extends z.ZodObject, Create extends z.ZodObject, Update extends z.ZodObject, Read> {
  /** Without the ID. */
  readonly path: string;
  /** The member of a list response that holds the items. */
  readonly key: string;
  readonly noun: string;
  /** Precedes the noun in summaries. */
  readonly article?: "a" | "an";
  readonly tag: string;
  /** `<area>:read` and `<area>:write`. */
  readonly area: AreaOf<Permission>;
  readonly table: TenantRecordTable;
  readonly records: Records<Read, z.output<Create>, z.output<Update>, z.output<Query>, string>;
  readonly query: Query;
  readonly create: Create;
  readonly update: Update;
  readonly read: z.ZodType;
  /** Converts read records to the form shown; the identity if undefined. */
  readonly shown?: (call: Pick<AdminCall<unknown, unknown>, "services" | "tenantId">, read: readonly Read[]) => Promise<Read[]>;
  readonly notes?: { readonly list?: string; readonly create?: string; readonly update?: string; readonly remove?: string };
}

type AreaOf<P> = P extends `${infer Area}:write` ? Area : never;

/** List, create, read, update and delete of a resource that belongs to a tenant. */
export function resource<Query extends z.ZodObject, Create extends z.ZodObject, Update extends z.ZodObject, Read>(
  spec: ResourceSpec<Query, Create, Update, Read>,
): AdminOperation[] {
  const { path, noun, tag, records, table, shown = async (_call, read) => [...read] } = spec;
  const one = `${spec.article ?? "a"} ${noun}`;
  const reading = { tag, access: `${spec.area}:read` as Permission, reach: "one" } as const;
  const writing = { tag, access: `${spec.area}:write` as Permission, reach: "one" } as const;
  const note = (text: string | undefined) => (text === undefined ? {} : { description: text });
  return [
    operation({
      ...reading,
      method: "GET",
      path,
      summary: `List ${spec.key.replaceAll("_", " ")}`,
      ...note(spec.notes?.list),
      query: spec.query,
      answer: { status: 200, about: "One page of them", schema: listOf(spec.key, spec.read) },
      run: (call) =>
        listed(spec.key, call, async (page) => {
          const { items, total } = await records.list(call.services.directory, call.tenantId, call.query, page);
          return { items: await shown(call, items), total };
        }),
    }),
    operation({
      ...writing,
      method: "POST",
      path,
      summary: `Create ${one}`,
      ...note(spec.notes?.create),
      body: spec.create,
      answer: { status: 201, about: "The record made", schema: spec.read },
      run: (call) => call.write((write) => records.create(write, call.tenantId, call.body)),
    }),
    operation({
      ...reading,
      method: "GET",
      path: `${path}/{id}`,
      subject: table,
      summary: `Read ${one}`,
      answer: { status: 200, about: "The record", schema: spec.read },
      run: async (call) => (await shown(call, [await records.get(call.services.directory, call.tenantId, idOf(call))]))[0],
    }),
    operation({
      ...writing,
      method: "PATCH",
      path: `${path}/{id}`,
      subject: table,
      summary: `Change ${one}`,
      description: spec.notes?.update ?? "Members left out of the body stay unchanged.",
      body: spec.update,
      answer: { status: 200, about: "The record as it is now", schema: spec.read },
      run: (call) => call.write((write) => records.update(write, call.tenantId, idOf(call), call.body)),
    }),
    operation({
      ...writing,
      method: "DELETE",
      path: `${path}/{id}`,
      subject: table,
      summary: `Delete ${one}`,
      ...note(spec.notes?.remove),
      answer: { status: 204, about: "Gone" },
      run: (call) => call.write((write) => records.remove(write, call.tenantId, idOf(call))),
    }),
  ];
}

/** The `{id}` of the path. */
export function idOf(call: { readonly params: Readonly<Record<string, string>> }): string {
  const { id } = call.params;
  if (id === undefined) throw new Error("the path has no {id}");
  return id;
}

/** Answers a list query with the requested page. */
export async function listed<T>(
  key: string,
  call: { readonly query: PageQuery },
  list: (page: { limit: number; offset: number }) => Promise<{ items: T[]; total: number }>,
): Promise<unknown> {
  const page = pageOf(call.query);
  return listAnswer(key, await list(page), page);
}
