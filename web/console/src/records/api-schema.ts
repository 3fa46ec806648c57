import { hasPermission } from "./refusals.ts";

/** The subset of JSON Schema that the admin API's document uses. */
export interface ApiSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, ApiSchema>>;
  readonly required?: readonly string[];
  readonly items?: ApiSchema;
  readonly anyOf?: readonly ApiSchema[];
  readonly oneOf?: readonly ApiSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
}

interface ApiOperation {
  readonly description?: string;
  readonly "x-access"?: string;
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: ApiSchema }>> };
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
  readonly components: { readonly schemas?: Readonly<Record<string, ApiSchema>> };
}

export interface Resolved {
  readonly schema: ApiSchema;
  readonly nullable: boolean;
  readonly description: string | undefined;
}

/** Resolves references and separates nullability. Of several alternatives, takes the first. */
export function resolvedSchema(document: ApiDocument, given: ApiSchema): Resolved {
  const referred = given.$ref === undefined ? undefined : document.components.schemas?.[given.$ref.split("/").at(-1) ?? ""];
  if (referred !== undefined) {
    const inner = resolvedSchema(document, referred);
    return { ...inner, description: given.description ?? inner.description };
  }
  const forms = given.anyOf ?? given.oneOf;
  if (forms === undefined && Array.isArray(given.type)) {
    const [type] = given.type.filter((one) => one !== "null");
    const { type: _types, ...rest } = given;
    return {
      schema: { ...rest, ...(type === undefined ? {} : { type }) },
      nullable: given.type.includes("null"),
      description: given.description,
    };
  }
  if (forms === undefined) return { schema: given, nullable: false, description: given.description };
  const [first = {}] = forms.filter(({ type }) => type !== "null");
  const inner = resolvedSchema(document, first);
  return {
    schema: inner.schema,
    nullable: inner.nullable || forms.some(({ type }) => type === "null"),
    description: given.description ?? inner.description,
  };
}

/** Whether the schema's pattern explicitly allows the empty string. */
export function takesNoText({ type, pattern }: ApiSchema): boolean {
  return type === "string" && pattern !== undefined && new RegExp(pattern, "u").test("");
}

function operationAt(document: ApiDocument, method: string, path: string): ApiOperation | undefined {
  // Ignores parameter names, which differ between operations.
  const shape = (one: string) => one.replaceAll(/\{\w+\}/g, "{}");
  const known = Object.keys(document.paths).find(
    (one) => shape(one) === shape(path) && document.paths[one]?.[method.toLowerCase()] !== undefined,
  );
  return known === undefined ? undefined : document.paths[known]?.[method.toLowerCase()];
}

/** The members of a request body; null if there is no such operation or it has no body. */
export function bodySchema(document: ApiDocument, method: string, path: string): ApiSchema | null {
  const schema = operationAt(document, method, path)?.requestBody?.content?.["application/json"]?.schema;
  if (schema === undefined) return null;
  const { schema: body } = resolvedSchema(document, schema);
  // The tenant is chosen once for the whole console.
  const { tenant_id: _, ...properties } = body.properties ?? {};
  return { ...body, properties };
}

export function hasOperation(document: ApiDocument, method: string, path: string): boolean {
  return operationAt(document, method, path) !== undefined;
}

/** Whether a user with these permissions may call the operation. System administrators may call every one. */
export function isAllowed(document: ApiDocument, method: string, path: string, user: { role?: unknown; permissions?: unknown }): boolean {
  const needed = operationAt(document, method, path)?.["x-access"];
  if (needed === undefined || needed === "anyone" || needed === "signed_in") return true;
  return hasPermission(user, needed);
}

const NAMES: Readonly<Record<string, string>> = {
  id: "ID",
  api: "API",
  arn: "ARN",
  uri: "URI",
  url: "URL",
  pii: "personal data",
  idp: "IdP",
  totp: "TOTP",
  llm: "model",
  mcp: "tool",
  usd: "USD",
  rpm: "requests a minute",
  tpm: "tokens a minute",
  ttl: "time to live",
  oidc: "OpenID Connect",
  sso: "single sign-on",
  saml: "SAML",
  scim: "SCIM",
  sql: "SQL",
  eu: "EU",
  ai: "AI",
  phi: "PHI",
  tts: "speech",
  stt: "transcription",
  gen: "generation",
  a2a: "agent",
};

/** A member's name as a label: "input_cost_per_million_tokens" becomes "Input cost per million tokens". */
export function memberLabel(member: string): string {
  const words = member
    .replace(/_ids$/, "s")
    .replace(/(?<!^)_id$/, "")
    .split("_")
    .map((word) => NAMES[word] ?? word)
    .join(" ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
