import { ERRORS, type ErrorCode } from "../../kernel/errors.ts";
import type { AdminOperation } from "./operation.ts";
import type { RecordRoute } from "./record-route.ts";

type Json = Record<string, unknown>;

/** An operation with its record's route. */
export interface DescribedOperation {
  readonly operation: AdminOperation;
  /** For a write on a record. */
  readonly route: RecordRoute | undefined;
  /** Whether it reads a record that has an entity tag. */
  readonly isRecord: boolean;
}

const CREATED = 201;

/** The common errors that this operation can return, judged by its inputs and method. */
function codesOf({ operation, route }: DescribedOperation): ErrorCode[] {
  const { method, access, body, upload, query, answer } = operation;
  const reads = body !== undefined || upload !== undefined;
  const hasParams = operation.path.includes("{");
  const writes = method !== "GET";
  const when: readonly (readonly [boolean, readonly ErrorCode[]])[] = [
    [reads, ["invalid_body", "body_too_large", "unsupported_media_type", "body_timeout"]],
    // Only public pages ignore their query.
    [query !== undefined || access !== "anyone", ["invalid_query"]],
    [access !== "anyone", ["unauthenticated"]],
    [access !== "anyone" && access !== "signed_in", ["forbidden"]],
    [hasParams || operation.reach !== "none", ["not_found"]],
    [method === "POST" && (operation.once === true || answer.status === CREATED), ["conflict", "idempotency_key_reused"]],
    [writes && route !== undefined, ["conflict", "precondition_failed"]],
    [(method === "PATCH" || method === "PUT") && route?.inAnswer !== undefined, ["read_only_field"]],
    [method === "DELETE" && hasParams, ["in_use"]],
    [access === "anyone", ["rate_limited"]],
    [true, ["internal_error", "database_unavailable"]],
  ];
  return [...new Set(when.flatMap(([holds, codes]) => (holds ? codes : [])))];
}

/** Error responses by status, listing the codes; an operation's own errors use the same statuses. */
export function errorResponses(one: DescribedOperation, error: Json): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codesOf(one)) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const content = { "application/json": { schema: error } };
  const responses = [...byStatus].map(([status, codes]) => {
    const description = codes.map((code) => `\`${code}\`: ${ERRORS[code].message}`).join(" ");
    return [status, { description, content }] as const;
  });
  return { ...Object.fromEntries(responses), default: { description: "Another error of the operation's own", content } };
}

const text = { type: "string" };

/** Headers that make a request conditional or idempotent. */
export function conditionHeaders({ operation, route, isRecord }: DescribedOperation): Json[] {
  const { method, answer } = operation;
  const header = (name: string, description: string) => ({ name, in: "header", required: false, description, schema: text });
  return [
    ...(isRecord ? [header("If-None-Match", "tag of the record as it was read: 304 while it is the same")] : []),
    ...(method !== "GET" && route !== undefined
      ? [header("If-Match", "tag of the record as it was read, or `*`: 412 when it is another by now")]
      : []),
    ...(method === "POST" && (operation.once === true || answer.status === CREATED)
      ? [header("Idempotency-Key", "carried out once within 24 hours; the same request again gets the first answer")]
      : []),
  ];
}

/** Headers of the response that describe the record. */
export function answerHeaders({ route, isRecord }: DescribedOperation): Json {
  if (!isRecord && route?.inAnswer === undefined) return {};
  return { headers: { ETag: { description: "Entity tag of the record's current state", schema: text } } };
}
