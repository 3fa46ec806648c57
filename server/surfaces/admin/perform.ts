import { z } from "zod";
import type { Admin } from "../../directory/people/logins.ts";
import { write, type Actor } from "../../directory/writes/write.ts";
import { refuse, Refused } from "../../kernel/errors.ts";
import { isUuid } from "../../kernel/ids.ts";
import { check, isHoldable, readQuery } from "../../wire/strict-input.ts";
import { jsonAnswer } from "./answers.ts";
import { admitCaller, tenantOfCall } from "./caller.ts";
import { withTenant } from "./document.ts";
import { readJsonBody } from "./input.ts";
import type { AdminCall, Operation } from "./operation.ts";
import type { AdminServices } from "./services.ts";

export interface Arrival {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  /** Address of the caller. */
  readonly address: string;
  readonly requestId: string;
}

/**
 * Makes an operation answer: caller, permission, path, query, body, tenant, and then the operation itself. The answering
 * function throws `Refused`.
 */
export function performer(services: AdminServices, operation: Operation): (arrival: Arrival) => Promise<Response> {
  // Made once, because a schema is compiled at its first use. A probe or a scraper of an open page may send what it likes.
  const page = operation.access === "anyone" && operation.query === undefined;
  const querySchema = page ? undefined : (withTenant(operation, operation.query) ?? NOTHING);
  const bodySchema = operation.body === undefined ? undefined : withTenant(operation, operation.body);
  return async (arrival) => {
    const { request, params } = arrival;
    const admin = await admitCaller(services, request, operation);
    for (const [name, value] of Object.entries(params)) {
      const known = operation.textParams?.includes(name) === true ? isHoldable(value) : isUuid(value);
      if (!known) throw new Refused(refuse("not_found"));
    }
    const query = querySchema === undefined ? NO_INPUT : splitTenant(operation, check(querySchema, readQuery(new URL(request.url)), "invalid_query"));
    const body = bodySchema === undefined ? NO_INPUT : splitTenant(operation, check(bodySchema, (await readJsonBody(request)) ?? {}, "invalid_body"));
    const header = operation.reach === "none" ? undefined : (request.headers.get("x-tenant-id") ?? undefined);
    const tenant = await tenantOfCall(services, admin, operation, params, { query: query.tenantId, body: body.tenantId, header });
    const result = await operation.run(callOf(services, operation, arrival, { admin, tenant, query: query.rest, body: body.rest }));
    return result instanceof Response ? result : jsonAnswer(operation.answer.status, result);
  };
}

const NOTHING = z.strictObject({});
const NO_INPUT = { tenantId: undefined, rest: {} };

function splitTenant(operation: Operation, input: Record<string, unknown>): { tenantId: string | undefined; rest: Record<string, unknown> } {
  if (operation.reach === "none") return { tenantId: undefined, rest: input };
  const { tenant_id: tenantId, ...rest } = input;
  return { tenantId: tenantId as string | undefined, rest };
}

function callOf(
  services: AdminServices,
  operation: Operation,
  { request, params, address, requestId }: Arrival,
  found: { admin: Admin | null; tenant: string | null; query: unknown; body: unknown },
): AdminCall<unknown, unknown> {
  const actor: Actor = { id: found.admin?.id ?? null, username: found.admin?.username ?? null, role: found.admin?.role ?? null, clientIp: address, requestId };
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
    write: (work) => write(services.directory, actor, work),
  };
}
