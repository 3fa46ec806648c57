import type { Permission } from "@gatehouse/contracts/roles";
import type { z } from "zod";
import type { Admin, LoginOrigin } from "../../directory/people/logins.ts";
import type { TenantRecordTable } from "../../directory/tenants/tenants.ts";
import type { Actor, Write } from "../../directory/writes/write.ts";
import type { AdminServices } from "./services.ts";

/** Who may call: anyone, whoever is signed in, system admins, or whoever has the permission. */
export type Access = "anyone" | "signed_in" | "system" | Permission;

/**
 * What of the tenants a call is held to. `one`: exactly one, the caller's own or the one a system admin means.
 * `any`: the caller's own, or for a system admin the one named, or all.
 */
export type Reach = "none" | "one" | "any";

export interface AdminCall<Query, Body> {
  readonly services: AdminServices;
  /** Throws for an operation that anyone may call. */
  readonly admin: Admin;
  readonly actor: Actor;
  readonly origin: LoginOrigin;
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** Of reach `one`. */
  readonly tenantId: string;
  /** Of reach `any`: null means all. */
  readonly tenantOrAll: string | null;
  /** One transaction with its admin log entries and change notices. */
  write<T>(work: (write: Write) => Promise<T>): Promise<T>;
  /**
   * The same for a change that stores the hash of a password, made before: a transaction must not hold a connection while it waits for
   * its turn to hash.
   */
  writeHashed<T>(password: string | undefined, work: (write: Write) => Promise<T>): Promise<T>;
}

export interface AdminAnswer {
  readonly status: number;
  /** What it is, for the document. */
  readonly about: string;
  /** Of a JSON answer. */
  readonly schema?: z.ZodType;
  /** The record as a read shows it, of an answer that tells more. */
  readonly record?: (answer: unknown) => unknown;
  /** Of another answer, which the operation returns as a Response. */
  readonly media?: string | readonly string[];
}

interface OperationShape<Query, Body, Run> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With its parameters in braces. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly reach: Reach;
  /** A system admin may mean a tenant that is gone: what is kept of it is what this is about. */
  readonly goneToo?: true;
  /** Parameters of the path that are no uuid. */
  readonly textParams?: readonly string[];
  /** The table `{id}` is in: a system admin who names the record need not name its tenant. */
  readonly subject?: TenantRecordTable;
  readonly query?: Query;
  readonly body?: Body;
  /** Instead of a body: the part of a form that carries a file. */
  readonly upload?: string;
  /** Whether an Idempotency-Key makes it happen once; what makes a record (201) is always so. */
  readonly once?: true;
  readonly answer: AdminAnswer;
  readonly run: Run;
}

export type AdminOperation = OperationShape<z.ZodObject, z.ZodObject, (call: AdminCall<unknown, unknown>) => Promise<unknown>>;

type NoQuery = z.ZodObject<Record<never, never>>;

/** Types `run` by the schemas of query and body. What it returns is the JSON answer, or a Response to be sent as it is. */
export function operation<Query extends z.ZodObject = NoQuery, Body extends z.ZodObject = NoQuery>(
  spec: OperationShape<Query, Body, (call: AdminCall<z.output<Query>, z.output<Body>>) => Promise<unknown>>,
): AdminOperation {
  return spec as unknown as AdminOperation;
}
