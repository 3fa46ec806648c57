import { z } from "zod";
import { AnsweredBefore, type IdempotentResponse } from "../../directory/writes/idempotent-request.ts";
import type { Admin } from "../../directory/people/logins.ts";
import { refuse, Refused } from "../../kernel/errors.ts";
import { isUuid } from "../../kernel/ids.ts";
import { networkOf } from "../../kernel/http/ip-address.ts";
import { isStorableText } from "../../kernel/text/storable.ts";
import { check, readQuery } from "../../wire/http/strict-input.ts";
import { adminJsonAnswer, readAnswer } from "./answers.ts";
import { withoutReadOnly } from "./as-read.ts";
import { carriedOutOnce } from "./idempotency-key.ts";
import { lackOf, signedInCaller } from "./caller.ts";
import { tenantOfCall } from "./tenant-of-call.ts";
import { type AdminArrival, callOf, currentRecord } from "./call.ts";
import { withTenant } from "./document.ts";
import { entityTag } from "./entity-tag.ts";
import { readJsonBody } from "./input.ts";
import type { AdminOperation } from "./operation.ts";
import type { RecordRoute } from "./record-route.ts";
import type { AdminServices } from "./services.ts";
import { reportRefused } from "./report-refused.ts";

/**
 * Makes the handler of an operation: checks caller, permission, path, query, body and tenant, then runs the operation. The handler throws
 * `Refused`. `route`: for a write, where its record is read.
 */
export function performer(
  services: AdminServices,
  operation: AdminOperation,
  route?: RecordRoute,
): (arrival: AdminArrival) => Promise<Response> {
  // Built once, because a schema is compiled at its first use. Public pages accept any query, because probes and scrapers send what they
  // like.
  const page = operation.access === "anyone" && operation.query === undefined;
  const querySchema = page ? undefined : (withTenant(operation, operation.query) ?? NOTHING);
  const bodySchema = operation.body === undefined ? undefined : withTenant(operation, operation.body);
  const perform = async (arrival: AdminArrival, admin: Admin | null): Promise<Response> => {
    const { request, params } = arrival;
    const lack = lackOf(admin, operation);
    if (lack !== null) throw new Refused(lack);
    for (const [name, value] of Object.entries(params)) {
      const known = operation.textParams?.includes(name) === true ? isStorableText(value) : isUuid(value);
      if (!known) throw new Refused(refuse("not_found"));
    }
    const query =
      querySchema === undefined ? NO_INPUT : splitTenant(operation, check(querySchema, readQuery(new URL(request.url)), "invalid_query"));
    const header = operation.reach === "none" ? undefined : (request.headers.get("x-tenant-id") ?? undefined);
    const tenantNamed = (bodyTenant: string | undefined) =>
      tenantOfCall(services, admin, operation, params, { query: query.tenantId, body: bodyTenant, header });
    const read = async (): Promise<{ tenant: string | null; body: Record<string, unknown> }> => {
      if (bodySchema === undefined) return { tenant: await tenantNamed(undefined), body: {} };
      const given = (await readJsonBody(request, admin === null ? networkOf(arrival.address) : null)) ?? {};
      const changed = recordChangedBy(operation, route, admin);
      if (changed === undefined || isReadAlone(given, bodySchema, changed)) {
        const body = splitTenant(operation, check(bodySchema, given, "invalid_body"));
        return { tenant: await tenantNamed(body.tenantId), body: body.rest };
      }
      const tenant = await tenantNamed(changed.ownTenant || typeof given.tenant_id !== "string" ? undefined : given.tenant_id);
      const current = await currentRecord(services, changed.read, arrival, { admin, tenant, input: { ...given, ...query.rest } });
      const schema = changed.ownTenant ? (operation.body as z.ZodObject) : bodySchema;
      const rest = withoutReadOnly(given, { schema, record: changed.record, current, keepsRest: operation.method === "PATCH" });
      return { tenant, body: splitTenant(operation, check(schema, rest, "invalid_body")).rest };
    };
    const { tenant, body } = await read();
    const found = { admin, tenant, query: query.rest, body, route };
    const answerOf = (result: unknown): IdempotentResponse => {
      const record = route?.inAnswer?.(result);
      return { status: operation.answer.status, body: result, etag: record === undefined ? undefined : entityTag(record) };
    };
    const once = admin === null ? undefined : carriedOutOnce(services.directory, operation, arrival, { ...found, admin });
    for (;;) {
      const before = await once?.answered();
      if (before !== undefined) return adminJsonAnswer(before.status, before.body, before.etag, { "idempotent-replayed": "true" });
      try {
        const result = await operation.run(callOf(services, operation, arrival, { ...found, once, answerOf }));
        if (result instanceof Response) return result;
        if (operation.method === "GET") return readAnswer(request, operation.answer.status, result);
        const answer = answerOf(result);
        await once?.finish(answer);
        return adminJsonAnswer(answer.status, answer.body, answer.etag);
      } catch (error) {
        if (!(error instanceof AnsweredBefore)) throw error;
      }
    }
  };
  return async (arrival) => {
    let admin: Admin | null = null;
    try {
      admin = await signedInCaller(services, arrival.request, operation);
      return await perform(arrival, admin);
    } catch (error) {
      if (error instanceof Refused) await reportRefused(services, operation, arrival, admin, error.refusal);
      throw error;
    }
  };
}

/**
 * The record that the body may be a copy of, read before and possibly changed. `ownTenant`: its tenant_id need not select the tenant,
 * because the record is found without it.
 */
function recordChangedBy(operation: AdminOperation, route: RecordRoute | undefined, admin: Admin | null) {
  const record = route?.read.answer.schema;
  if (route === undefined || !(record instanceof z.ZodObject) || !(operation.method === "PATCH" || operation.method === "PUT"))
    return undefined;
  if (route.inAnswer === undefined) return undefined;
  const found = operation.subject !== undefined || operation.reach === "any" || typeof admin?.tenantId === "string";
  return { read: route.read, record, ownTenant: "tenant_id" in record.shape && found };
}

const NOTHING = z.strictObject({});
const NO_INPUT = { tenantId: undefined, rest: {} };

function splitTenant(
  operation: AdminOperation,
  input: Record<string, unknown>,
): { tenantId: string | undefined; rest: Record<string, unknown> } {
  if (operation.reach === "none") return { tenantId: undefined, rest: input };
  const { tenant_id: tenantId, ...rest } = input;
  return { tenantId: tenantId as string | undefined, rest };
}

/** Whether the body can be judged without the record: it is valid, or has members that no record has. */
function isReadAlone(
  given: Readonly<Record<string, unknown>>,
  schema: z.ZodObject,
  { record, ownTenant }: { readonly record: z.ZodObject; readonly ownTenant: boolean },
): boolean {
  const names = Object.keys(given);
  if (names.some((name) => !(name in schema.shape) && !(name in record.shape))) return true;
  return !(ownTenant && "tenant_id" in given) && schema.safeParse(given).success;
}
