import type { Permission } from "@gatehouse/contracts/roles";
import type { z } from "zod";
import type { Admin, LoginOrigin } from "../../directory/people/logins.ts";
import type { TenantRecordTable } from "../../directory/tenants/tenants.ts";
import type { Actor, Write } from "../../directory/writes/write.ts";
import type { AdminServices } from "./services.ts";

/** Who may call: anyone, signed-in admins, system admins, or holders of the permission. */
export type Access = "anyone" | "signed_in" | "system" | Permission;

/**
 * The tenants a call applies to. `one`: exactly one, the caller's own or the one a system admin names.
 * `any`: the caller's own, or for a system admin the one named, or all.
 */
export type Reach = "none" | "one" | "any";

export interface AdminCall<Query, Body> {
  readonly services: AdminServices;
  /** Throws in an operation that anyone may call. */
  readonly admin: Admin;
  readonly actor: Actor;
  readonly origin: LoginOrigin;
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** For reach `one`. */
  readonly tenantId: string;
  /** For reach `any`: null means all. */
  readonly tenantOrAll: string | null;
  /** Runs one transaction, including its admin log entries and change notices. */
  write<T>(work: (write: Write) => Promise<T>): Promise<T>;
  /**
   * The same for a change that stores a password hash, which is computed before: a transaction must not hold a connection while it waits
   * for its turn to hash.
   */
  writeHashed<T>(password: string | undefined, work: (write: Write) => Promise<T>): Promise<T>;
}

export interface AdminAnswer {
  readonly status: number;
  /** Its description in the OpenAPI document. */
  readonly about: string;
  /** For a JSON response. */
  readonly schema?: z.ZodType;
  /** Extracts the record, as a read returns it, from a response that contains more. */
  readonly record?: (answer: unknown) => unknown;
  /** For any other response, which the operation returns as a Response. */
  readonly media?: string | readonly string[];
}

interface OperationShape<Query, Body, Run> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With parameters in braces. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly reach: Reach;
  /** A system admin may name a deleted tenant, because the operation is about what is kept of it. */
  readonly goneToo?: true;
  /** Path parameters that are not UUIDs. */
  readonly textParams?: readonly string[];
  /** The table of `{id}`: a system admin who names the record need not name its tenant. */
  readonly subject?: TenantRecordTable;
  readonly query?: Query;
  readonly body?: Body;
  /** Instead of a body: the form field that carries a file. */
  readonly upload?: string;
  /** Whether an Idempotency-Key is honoured; it always is if a record is created (201). */
  readonly once?: true;
  readonly answer: AdminAnswer;
  readonly run: Run;
}

export type AdminOperation = OperationShape<z.ZodObject, z.ZodObject, (call: AdminCall<unknown, unknown>) => Promise<unknown>>;

type NoQuery = z.ZodObject<Record<never, never>>;

/** Types `run` by the schemas of query and body. `run` returns the JSON response, or a Response to be sent unchanged. */
export function operation<Query extends z.ZodObject = NoQuery, Body extends z.ZodObject = NoQuery>(
  spec: OperationShape<Query, Body, (call: AdminCall<z.output<Query>, z.output<Body>>) => Promise<unknown>>,
): AdminOperation {
  return spec as unknown as AdminOperation;
}
