import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";

/** Protected resource metadata (RFC 9728). */
export interface ResourceMetadata {
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopes: readonly string[];
}

/** Authorization server metadata (RFC 8414, OpenID Connect Discovery). */
export interface AuthorizationServer {
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly registrationEndpoint: string | null;
  readonly revocationEndpoint: string | null;
  readonly scopes: readonly string[];
  readonly tokenAuthMethods: readonly string[];
  /** Whether it accepts the URL of a metadata document as client ID. */
  readonly clientDocuments: boolean;
  /** Whether it includes `iss` in authorization responses (RFC 9207). */
  readonly namesItself: boolean;
  /** The original document, for members that are passed on. */
  readonly raw: JsonObject;
}

const texts = (value: JsonValue | undefined): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
const text = (value: JsonValue | undefined): string | null => (typeof value === "string" && value !== "" ? value : null);

/** Returns a text with the reason if the document cannot be used. */
export function readResourceMetadata(body: JsonValue | null, serverUrl: string): ResourceMetadata | string {
  if (!isObject(body) || typeof body.resource !== "string") return "names no resource";
  if (!covers(body.resource, serverUrl)) return "is for another resource";
  return { resource: body.resource, authorizationServers: texts(body.authorization_servers), scopes: texts(body.scopes_supported) };
}

/** Whether the resource URL is the server's endpoint or a parent path on the same origin. */
export function covers(resource: string, serverUrl: string): boolean {
  if (!URL.canParse(resource) || !URL.canParse(serverUrl)) return false;
  const [outer, inner] = [new URL(resource), new URL(serverUrl)];
  const above = outer.pathname.endsWith("/") ? outer.pathname : `${outer.pathname}/`;
  return outer.origin === inner.origin && outer.hash === "" && `${inner.pathname}/`.startsWith(above);
}

/** Returns a text with the reason if the document cannot be used. `mayUse` tells whether a URL may be requested. */
export function readAuthorizationServer(
  body: JsonValue | null,
  issuer: string,
  mayUse: (url: string) => boolean,
): AuthorizationServer | string {
  if (!isObject(body)) return "is no object";
  // Compared exactly: a document naming another issuer belongs to that issuer or is forged.
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

/** The well-known URLs of a resource's metadata document, besides one that the resource names itself. */
export function resourceMetadataUrls(serverUrl: string): string[] {
  const { origin, pathname } = new URL(serverUrl);
  const root = `${origin}/.well-known/oauth-protected-resource`;
  return pathname === "/" ? [root] : [`${root}${pathname}`, root];
}

/** The well-known URLs of an issuer's metadata document, in lookup order. */
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
