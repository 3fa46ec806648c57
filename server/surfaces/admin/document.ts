import { errorBody, tenantIdOfCaller } from "@gatehouse/contracts/conventions";
import { z } from "zod";
import { answerHeaders, conditionHeaders, type DescribedOperation, errorResponses } from "./document-answers.ts";
import type { AdminOperation } from "./operation.ts";
import { type OpenApiNode, paramsOf, schemaOf } from "../openapi/schema-of.ts";
import type { RecordRoute } from "./record-route.ts";

/** The OpenAPI 3.1 document of the operations, generated from the schemas that validate requests. */
export function openApiDocument(operations: readonly AdminOperation[], records: ReadonlyMap<AdminOperation, RecordRoute>): object {
  const components: OpenApiNode = {};
  const error = schemaOf(errorBody, "output", components);
  const paths: Record<string, OpenApiNode> = {};
  const reads = new Set([...records.values()].map(({ read }) => read));
  for (const operation of operations) {
    const path = (paths[operation.path] ??= {});
    path[operation.method.toLowerCase()] = describe(
      { operation, route: records.get(operation), isRecord: reads.has(operation) },
      components,
      error,
    );
  }
  const tags = [...new Set(operations.map((operation) => operation.tag))].map((name) => ({ name }));
  return {
    openapi: "3.1.0",
    info: {
      title: "Gatehouse control plane",
      version: "1",
      description:
        "Log in at `/v1/admin-users/login`, or as an admin of one kind at `/v1/admin-users/system/login` or " +
        "`/v1/admin-users/tenant/login`, and send the `access_token` as `Authorization: Bearer`. " +
        "A tenant's admin is held to their tenant. A system admin names the tenant as `tenant_id` in the query or the body, or " +
        "as `X-Tenant-ID`; " +
        "without it the record in the path decides, else the tenant `default`, else the only tenant there is. " +
        "Errors are `{detail, code}`; a 400 names each field, and a 409 of a duplicate carries `existing_id`. " +
        "A record may be sent back as it was read: what is unchanged says nothing, and a read-only member with another value is a " +
        "422. Records carry an `ETag`; writes take `If-Match` (412), reads `If-None-Match` (304). What makes a record, and the rotation " +
        "of a key, takes an `Idempotency-Key`, and is carried out once within 24 hours.",
    },
    servers: [{ url: "/", description: "The control plane that this document comes from" }],
    tags,
    paths,
    components: { schemas: components, securitySchemes: { bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" } } },
    security: [{ bearer: [] }],
  };
}

function describe(one: DescribedOperation, components: OpenApiNode, error: OpenApiNode): OpenApiNode {
  const { operation } = one;
  const { answer } = operation;
  const open = operation.access === "anyone";
  const content =
    answer.schema === undefined ? undefined : { "application/json": { schema: schemaOf(answer.schema, "output", components) } };
  const other = answer.media === undefined ? undefined : Object.fromEntries([answer.media].flat().map((media) => [media, {}]));
  return {
    operationId: operationId(operation),
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    "x-access": operation.access,
    ...(open ? { security: [] } : {}),
    parameters: [...parameters(operation, components), ...conditionHeaders(one)],
    ...requestBody(operation, components),
    responses: {
      [answer.status]: {
        description: answer.about,
        ...answerHeaders(one),
        ...(content === undefined && other === undefined ? {} : { content: content ?? other }),
      },
      ...(one.isRecord ? { 304: { description: "The record still matches If-None-Match" } } : {}),
      ...errorResponses(one, error),
    },
  };
}

function requestBody(operation: AdminOperation, components: OpenApiNode): OpenApiNode {
  if (operation.upload !== undefined) {
    const schema = {
      type: "object",
      properties: { [operation.upload]: { type: "string", contentMediaType: "application/octet-stream" } },
      required: [operation.upload],
    };
    return { requestBody: { required: true, content: { "multipart/form-data": { schema } } } };
  }
  if (operation.body === undefined) return {};
  const schema = withTenant(operation, operation.body);
  // A missing body is read as an empty one; IDs to be unbound may be in the query instead.
  const required = operation.method !== "DELETE" && !schema.safeParse({}).success;
  return { requestBody: { required, content: { "application/json": { schema: schemaOf(schema, "input", components) } } } };
}

function operationId({ method, path }: AdminOperation): string {
  return `${method.toLowerCase()}${path.replaceAll(/[^A-Za-z0-9]+/g, "_")}`.replace(/_$/, "");
}

function parameters(operation: AdminOperation, components: OpenApiNode): OpenApiNode[] {
  const inPath = paramsOf(operation.path).map((name) => ({
    name,
    in: "path",
    required: true,
    schema: operation.textParams?.includes(name) === true ? { type: "string" } : { type: "string", format: "uuid" },
  }));
  const query = withTenant(operation, operation.query);
  const inQuery = Object.entries(query?.shape ?? {}).map(([name, schema]) => {
    const { description, ...rest } = schemaOf(schema as z.ZodType, "output", components);
    return { name, in: "query", required: false, ...(description === undefined ? {} : { description }), schema: rest };
  });
  const inHeader =
    operation.reach === "none"
      ? []
      : [{ name: "X-Tenant-ID", in: "header", required: false, description: "same as tenant_id", schema: { type: "string" } }];
  return [...inPath, ...inQuery, ...inHeader];
}

/** Adds the `tenant_id` that every operation on a tenant's records accepts. */
export function withTenant<T extends z.ZodObject | undefined>(operation: Pick<AdminOperation, "reach">, schema: T): T | z.ZodObject {
  if (operation.reach === "none") return schema;
  return (schema ?? z.strictObject({})).safeExtend({ tenant_id: tenantIdOfCaller });
}
