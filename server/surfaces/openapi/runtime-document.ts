import type { z } from "zod";
import type { RouteCallers } from "../../road/admission/admit.ts";
import type { DescribedRoute } from "./described-route.ts";
import { type OpenApiNode, paramsOf, schemaOf } from "./schema-of.ts";

/** A route with its description. */
export interface DocumentedRoute {
  readonly method: string;
  /** With `:names` for parameters. */
  readonly path: string;
  /** Null if it needs no credential and leaves no row. */
  readonly admits: RouteCallers | null;
  readonly described: DescribedRoute;
}

/** The OpenAPI 3.1 document of the runtime plane: the surfaces of models and tool servers, runs, and the portal API. */
export function runtimeDocument(routes: readonly DocumentedRoute[]): object {
  const components: OpenApiNode = {};
  const paths: Record<string, OpenApiNode> = {};
  for (const route of routes) {
    const path = (paths[templateOf(route.path)] ??= {});
    path[route.method.toLowerCase()] = operation(route, components);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Gatehouse runtime plane",
      version: "1",
      description:
        "Calls carry an API key as `Authorization: Bearer`, as `x-api-key`, or as `x-goog-api-key`; the portal's carry the token that " +
        "`/v1/portal/auth/login` gives. Every answer has an `x-request-id`, which is the id of its audit row. The vendors' own clients " +
        "work with their formats here; requests of those formats are open, since what a vendor adds passes to a provider of the same format.",
    },
    servers: [{ url: "/", description: "The runtime plane that this document comes from" }],
    tags: [...new Set(routes.map(({ described }) => described.tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: components,
      securitySchemes: {
        key: { type: "http", scheme: "bearer", description: "An API key" },
        token: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "A token of the portal" },
        anthropic: { type: "apiKey", in: "header", name: "x-api-key", description: "An API key, as Anthropic's clients send it" },
        google: { type: "apiKey", in: "header", name: "x-goog-api-key", description: "An API key, as Google's clients send it" },
      },
    },
  };
}

const templateOf = (path: string) => path.replaceAll(/\/:(\w+)/g, "/{$1}");

/** A path with a trailing slash is a different operation from the one without. */
function operationId(method: string, template: string): string {
  const named = template.endsWith("/") ? `${template}slash` : template;
  return `${method.toLowerCase()}${named.replaceAll(/[^A-Za-z0-9]+/g, "_")}`.replace(/_$/, "");
}

const headerParameters = (names: readonly string[] = [], required: boolean) =>
  names.map((name) => ({ name, in: "header", required, schema: { type: "string" } }));

function operation(route: DocumentedRoute, components: OpenApiNode): OpenApiNode {
  const { method, path, described } = route;
  const { answer, tag, summary } = described;
  const template = templateOf(path);
  const error = { "application/json": { schema: schemaOf(described.error, "output", components) } };
  return {
    operationId: operationId(method, template),
    tags: [tag],
    summary,
    security: securityOf(route),
    parameters: [
      ...pathParameters(template),
      ...queryParameters(described.query, components),
      ...headerParameters(described.headers, true),
      ...headerParameters(described.optionalHeaders, false),
    ],
    ...requestBody(described, components),
    responses: {
      [answer.status]: {
        // With two content types under one status, generated clients would return a union.
        description:
          answer.media === undefined || answer.schema === undefined ? summary : `${summary}; ${answer.media} where a stream is asked for`,
        headers: { "x-request-id": { description: "Id of the call's audit row", schema: { type: "string" } } },
        content: {
          ...(answer.schema === undefined ? {} : { "application/json": { schema: schemaOf(answer.schema, "output", components) } }),
          ...(answer.media === undefined || answer.schema !== undefined ? {} : { [answer.media]: { schema: { type: "string" } } }),
        },
      },
      ...Object.fromEntries(errorsOf(route).map(([status, description]) => [status, { description, content: error }])),
      default: { description: "Another error (docs/reference/errors.md)", content: error },
    },
  };
}

/** Errors by how callers authenticate; every surface can return these. */
function errorsOf({ admits, described }: DocumentedRoute): [number, string][] {
  const takes = described.body !== undefined || described.query !== undefined || described.form === true;
  return [
    ...(takes ? [[400, "What was sent is wrong; `fields` or the text names where"] as [number, string]] : []),
    ...(admits === null || admits === "anyone" ? [] : [[401, "No credential, or one that does not hold"] as [number, string]]),
    ...(admits === null ? [] : [[403, "Not allowed, or blocked by a policy"] as [number, string]]),
    ...(admits === null ? [] : [[429, "A limit is reached; `retry-after` says when to come again"] as [number, string]]),
    ...(admits === null ? [] : [[503, "What the call needs is away just now"] as [number, string]]),
  ];
}

function securityOf({ admits, described }: DocumentedRoute): OpenApiNode[] {
  if (admits === null || admits === "anyone") return [];
  if (admits === "user") return [{ token: [] }];
  if (described.tag === "Portal") return [{ token: [] }, { key: [] }];
  return [{ key: [] }, { token: [] }, { anthropic: [] }, { google: [] }];
}

function pathParameters(template: string): OpenApiNode[] {
  return paramsOf(template).map((name) => ({ name, in: "path", required: true, schema: { type: "string" } }));
}

function queryParameters(query: z.ZodObject | undefined, components: OpenApiNode): OpenApiNode[] {
  return Object.entries(query?.shape ?? {}).map(([name, schema]) => {
    const { description, ...rest } = schemaOf(schema as z.ZodType, "input", components);
    return {
      name,
      in: "query",
      required: !(schema as z.ZodType).safeParse(undefined).success,
      ...(description === undefined ? {} : { description }),
      schema: rest,
    };
  });
}

function requestBody({ body, form }: DescribedRoute, components: OpenApiNode): OpenApiNode {
  if (form === true) {
    const schema = { type: "object", properties: { file: { type: "string", contentMediaType: "application/octet-stream" } } };
    return { requestBody: { required: true, content: { "multipart/form-data": { schema } } } };
  }
  if (body === undefined) return {};
  const required = !body.safeParse({}).success;
  return { requestBody: { required, content: { "application/json": { schema: schemaOf(body, "input", components) } } } };
}
