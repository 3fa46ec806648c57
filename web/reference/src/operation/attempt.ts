import type { SampleRequest } from "@gatehouse/web-kit/code-samples.ts";
import type { Operation } from "../document/api-document.ts";

/** The reader's input. */
export interface TriedRequest {
  readonly values: Readonly<Record<string, string>>;
  readonly body: string;
  readonly file: File | null;
  /** `Name: value`, one per line. */
  readonly headers: string;
}

const JSON_BODY = "application/json";
const FORM_BODY = "multipart/form-data";

export const parameterKey = (place: string, name: string) => `${place} ${name}`;

export const jsonBodySchema = ({ about }: Operation) => about.requestBody?.content[JSON_BODY]?.schema;
export const takesJson = ({ about }: Operation): boolean => about.requestBody?.content[JSON_BODY] !== undefined;
export const takesForm = ({ about }: Operation): boolean => about.requestBody?.content[FORM_BODY] !== undefined;
export const formBodySchema = ({ about }: Operation) => about.requestBody?.content[FORM_BODY]?.schema;

/** The names of a form's file parts and text parts. */
export function formParts(operation: Operation): { readonly files: readonly string[]; readonly texts: readonly string[] } {
  const parts = Object.entries(formBodySchema(operation)?.properties ?? {});
  const isFile = (schema: object) => "contentMediaType" in schema || (schema as { format?: string }).format === "binary";
  return {
    files: parts.filter(([, schema]) => isFile(schema)).map(([name]) => name),
    texts: parts.filter(([, schema]) => !isFile(schema)).map(([name]) => name),
  };
}

export function givenHeaders({ headers }: TriedRequest): readonly (readonly [name: string, value: string])[] {
  return headers.split("\n").flatMap((line) => {
    const at = line.indexOf(":");
    return at <= 0 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()] as const];
  });
}

/** The URL with the input filled in. Path parameters without a value stay in braces. */
export function addressOf({ path, about }: Operation, { values }: TriedRequest, origin: string): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[parameterKey("path", name)] ?? "";
    return value === "" ? whole : encodeURIComponent(value);
  });
  const query = (about.parameters ?? [])
    .filter((one) => one.in === "query")
    .map(({ name }) => [name, values[parameterKey("query", name)] ?? ""] as const)
    .filter(([, value]) => value !== "");
  const queryText = query.length === 0 ? "" : `?${new URLSearchParams(query.map(([name, value]) => [name, value]))}`;
  return `${origin}${filled}${queryText}`;
}

function parameterHeaders({ about }: Operation, { values }: TriedRequest): readonly (readonly [string, string])[] {
  return (about.parameters ?? [])
    .filter((one) => one.in === "header")
    .map(({ name }) => [name, values[parameterKey("header", name)] ?? ""] as const)
    .filter(([, value]) => value !== "");
}

export const headersOf = (operation: Operation, attempt: TriedRequest) => [
  ...parameterHeaders(operation, attempt),
  ...givenHeaders(attempt),
];

const partsOf = (operation: Operation, { values }: TriedRequest) =>
  formParts(operation)
    .texts.map((name) => [name, values[parameterKey("part", name)] ?? ""] as const)
    .filter(([, value]) => value !== "");

/** The input as a sample request; the credential is an environment variable. */
export function sampleOfAttempt(operation: Operation, attempt: TriedRequest, credential: string | null, origin: string): SampleRequest {
  const body = takesForm(operation)
    ? ({ kind: "form", fields: partsOf(operation, attempt), files: formParts(operation).files } as const)
    : takesJson(operation) && attempt.body.trim() !== ""
      ? ({ kind: "json", text: attempt.body } as const)
      : null;
  return { method: operation.method, url: addressOf(operation, attempt, origin), credential, headers: headersOf(operation, attempt), body };
}

export function requestOf(operation: Operation, attempt: TriedRequest, token: string | null): Request {
  const headers = new Headers();
  if (token !== null) headers.set("authorization", `Bearer ${token}`);
  for (const [name, value] of headersOf(operation, attempt)) headers.set(name, value);
  let body: BodyInit | undefined;
  if (takesForm(operation)) {
    body = new FormData();
    for (const [name, value] of partsOf(operation, attempt)) body.append(name, value);
    for (const name of formParts(operation).files) if (attempt.file !== null) body.append(name, attempt.file);
  } else if (takesJson(operation) && attempt.body.trim() !== "") {
    headers.set("content-type", JSON_BODY);
    body = attempt.body;
  }
  return new Request(addressOf(operation, attempt, location.origin), {
    method: operation.method,
    headers,
    // Only the token authenticates; the session cookie is for other paths.
    credentials: "omit",
    ...(body === undefined ? {} : { body }),
  });
}
