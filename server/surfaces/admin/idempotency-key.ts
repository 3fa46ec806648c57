import type { Admin } from "../../directory/people/logins.ts";
import { IdempotentRequest } from "../../directory/writes/idempotent-request.ts";
import type { Directory } from "../../directory/writes/write.ts";
import { invalidFields } from "../../kernel/errors.ts";
import type { AdminArrival } from "./call.ts";
import type { AdminOperation } from "./operation.ts";

const NAME = "Idempotency-Key";
const KEY = /^[\x20-\x7e]{1,200}$/;
const CREATED = 201;

/** Undefined if the request has no idempotency key, or repeating it is harmless. */
export function carriedOutOnce(
  directory: Directory,
  operation: AdminOperation,
  { request, params }: AdminArrival,
  {
    admin,
    tenant,
    query,
    body,
  }: { readonly admin: Admin; readonly tenant: string | null; readonly query: unknown; readonly body: unknown },
): IdempotentRequest | undefined {
  const key = request.headers.get(NAME);
  if (key === null || operation.method !== "POST" || !(operation.once === true || operation.answer.status === CREATED)) return undefined;
  if (!KEY.test(key)) throw invalidFields("invalid_header", [{ field: NAME, message: "must be 1 to 200 printable ASCII characters" }]);
  return new IdempotentRequest(directory, admin.id, key, [operation.path, params, tenant, query, body]);
}
