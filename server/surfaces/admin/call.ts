import type { Admin } from "../../directory/people/logins.ts";
import type { IdempotentRequest, IdempotentResponse } from "../../directory/writes/idempotent-request.ts";
import type { Actor, Directory, Write } from "../../directory/writes/write.ts";
import { check } from "../../wire/http/strict-input.ts";
import { conditionedWrites } from "./conditioned-writes.ts";
import type { AdminCall, AdminOperation } from "./operation.ts";
import type { RecordRoute } from "./record-route.ts";
import type { AdminServices } from "./services.ts";

export interface AdminArrival {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  /** The caller's IP address. */
  readonly address: string;
  readonly requestId: string;
}

export function actorOf(admin: Admin | null, { address, requestId }: Pick<AdminArrival, "address" | "requestId">): Actor {
  return { id: admin?.id ?? null, username: admin?.username ?? null, role: admin?.role ?? null, clientIp: address, requestId };
}

interface Found {
  readonly admin: Admin | null;
  readonly tenant: string | null;
  readonly query: unknown;
  readonly body: unknown;
}

/** Reads the record through its own read operation. `input` may identify it, in addition to the path. */
export async function currentRecord(
  services: AdminServices,
  read: AdminOperation,
  arrival: AdminArrival,
  { admin, tenant, input }: Pick<Found, "admin" | "tenant"> & { readonly input: Readonly<Record<string, unknown>> },
): Promise<Record<string, unknown>> {
  const names = Object.keys(read.query?.shape ?? {}).filter((name) => input[name] != null);
  const named = Object.fromEntries(names.map((name) => [name, input[name]]));
  // Values that came in the body were not validated before.
  const query = read.query === undefined ? named : check(read.query, named, "invalid_body");
  return read.run(callOf(services, read, arrival, { admin, tenant, query, body: {} })) as Promise<Record<string, unknown>>;
}

function recordIdOf(record: unknown): string | null {
  return typeof record === "object" && record !== null && "id" in record ? String(record.id) : null;
}

export function callOf(
  services: AdminServices,
  operation: AdminOperation,
  arrival: AdminArrival,
  found: Found & {
    readonly route?: RecordRoute | undefined;
    readonly once?: IdempotentRequest | undefined;
    readonly answerOf?: (result: unknown) => IdempotentResponse;
  },
): AdminCall<unknown, unknown> {
  const { request, params, address, requestId } = arrival;
  const actor = actorOf(found.admin, arrival);
  const input = { ...(found.body as object), ...(found.query as object) };
  const onRecord = conditionedWrites(found.route, arrival, {
    // If callers need not name the record's tenant, everybody who may change the record must use the same lock.
    scope: operation.reach === "any" ? "" : (found.tenant ?? ""),
    input,
    read: (db, { read }) => currentRecord({ ...services, directory: { ...services.directory, db } }, read, arrival, { ...found, input }),
  });
  const { once, answerOf, route } = found;
  const written = <T>(directory: Directory, work: (write: Write) => Promise<T>): Promise<T> => {
    if (once === undefined || answerOf === undefined) return onRecord(directory, actor, work);
    return once.write(
      (one) => onRecord(directory, actor, one),
      work,
      (result) => ({ answer: answerOf(result), recordId: recordIdOf(route?.inAnswer?.(result)) }),
    );
  };
  return {
    services,
    actor,
    origin: { address, requestId },
    request,
    params,
    query: found.query,
    body: found.body,
    tenantOrAll: found.tenant,
    get admin() {
      if (found.admin === null) throw new Error(`${operation.path} is open to anyone: nobody is signed in`);
      return found.admin;
    },
    get tenantId() {
      if (found.tenant === null) throw new Error(`${operation.path} is not held to one tenant`);
      return found.tenant;
    },
    write: (work) => written(services.directory, work),
    async writeHashed(password, work) {
      const { directory } = services;
      if (password === undefined) return written(directory, work);
      const hash = await directory.hashPassword(password);
      return written({ ...directory, hashPassword: async () => hash }, work);
    },
  };
}
