import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";

/** What a protected resource says of itself (RFC 9728). */
export interface ResourceMetadata {
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopes: readonly string[];
}

/** What an authorization server says of itself (RFC 8414, OpenID Connect Discovery). */
export interface AuthorizationServer {
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly registrationEndpoint: string | null;
  readonly revocationEndpoint: string | null;
  readonly scopes: readonly string[];
  readonly tokenAuthMethods: readonly string[];
  /** Takes an address of a document as client id. */
  readonly clientDocuments: boolean;
  /** Names itself in every answer it sends by way of the browser (RFC 9207). */
  readonly namesItself: boolean;
  /** The document, for members that are passed on. */
  readonly raw: JsonObject;
}

const texts = (value: JsonValue | undefined): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
const text = (value: JsonValue | undefined): string | null => (typeof value === "string" && value !== "" ? value : null);

/** A text says why the document cannot be used. */
export function readResourceMetadata(body: JsonValue | null, serverUrl: string): ResourceMetadata | string {
  if (!isObject(body) || typeof body.resource !== "string") return "names no resource";
  if (!covers(body.resource, serverUrl)) return "is for another resource";
  return { resource: body.resource, authorizationServers: texts(body.authorization_servers), scopes: texts(body.scopes_supported) };
}

/** Whether a resource is the server's endpoint or stands above it on the same origin. */
export function covers(resource: string, serverUrl: string): boolean {
  if (!URL.canParse(resource) || !URL.canParse(serverUrl)) return false;
  const [outer, inner] = [new URL(resource), new URL(serverUrl)];
  const above = outer.pathname.endsWith("/") ? outer.pathname : `${outer.pathname}/`;
  return outer.origin === inner.origin && outer.hash === "" && `${inner.pathname}/`.startsWith(above);
}

/** A text says why the document cannot be used. `mayUse` says whether an address may be asked. */
export function readAuthorizationServer(
  body: JsonValue | null,
  issuer: string,
  mayUse: (url: string) => boolean,
): AuthorizationServer | string {
  if (!isObject(body)) return "is no object";
  // Byte for byte: a document that names another issuer is that issuer's, or a forgery.
  if (body.issuer !== issuer) return "names another issuer";
  const endpoint = (name: string) => {
    const value = text(body[name]);
    return value !== null && mayUse(value) ? value : null;
  };
  const authorizationEndpoint = endpoint("authorization_endpoint");
  const tokenEndpoint = endpoint("token_endpoint");
  if (authorizationEndpoint === null || tokenEndpoint === null) return "has no usable authorization_endpoint and token_endpoint";
  if (!texts(body.code_challenge_methods_supported).includes("S256")) return "does not say that it takes PKCE with S256";
  return {
    issuer,
    authorizationEndpoint,
    tokenEndpoint,
    registrationEndpoint: endpoint("registration_endpoint"),
    revocationEndpoint: endpoint("revocation_endpoint"),
    scopes: texts(body.scopes_supported),
    tokenAuthMethods: texts(body.token_endpoint_auth_methods_supported),
    clientDocuments: body.client_id_metadata_document_supported === true,
    namesItself: body.authorization_response_iss_parameter_supported === true,
    raw: body,
  };
}

/** Where a resource's document may stand, beside an address it names itself. */
export function resourceMetadataUrls(serverUrl: string): string[] {
  const { origin, pathname } = new URL(serverUrl);
  const root = `${origin}/.well-known/oauth-protected-resource`;
  return pathname === "/" ? [root] : [`${root}${pathname}`, root];
}

/** Where an issuer's document may stand, in the order it is looked for. */
export function authorizationServerUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/+$/, "");
  const known = `${origin}/.well-known`;
  return path === ""
    ? [`${known}/oauth-authorization-server`, `${known}/openid-configuration`]
    : [
        `${known}/oauth-authorization-server${path}`,
        `${known}/openid-configuration${path}`,
        `${origin}${path}/.well-known/openid-configuration`,
      ];
}
