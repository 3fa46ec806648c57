import { looksLikeJwt } from "../../directory/people/portal/portal-tokens.ts";
import { looksLikeAccessToken } from "./gateway-tokens.ts";
import { looksLikeUploadToken } from "./upload-tokens.ts";
import type { NamedHeaders } from "../../kernel/http/request-headers.ts";
import { looksLikeApiKey } from "../../kernel/secrets.ts";

export type RequestCredential =
  | { readonly kind: "api_key" | "token" | "broker_token" | "upload_token"; readonly text: string }
  | { readonly kind: "missing" | "malformed" };

/**
 * The credential of a request (interface 5.1), in this order: an API key in any form the vendors' clients send one, a token in
 * X-Gateway-Authorization, a bearer token of the gateway or its broker, an upload token in the URL. Any other bearer token is meant for
 * someone else.
 */
export function requestCredential(headers: NamedHeaders, url: string): RequestCredential {
  const own = headers.get("x-api-key");
  if (own !== null && looksLikeApiKey(own)) return { kind: "api_key", text: own };
  const bearer = bearerOf(headers.get("authorization"));
  if (bearer !== null && looksLikeApiKey(bearer)) return { kind: "api_key", text: bearer };
  // A key in the query is not exposed further: rows and logs hold paths only.
  const inQuery = url.includes("key=") ? new URL(url).searchParams.get("key") : null;
  const candidates = [own, bearer, headers.get("api-key"), headers.get("x-goog-api-key"), inQuery].filter((text) => text !== null);
  const key = candidates.find(looksLikeApiKey);
  if (key !== undefined) return { kind: "api_key", text: key };
  const gateway = headers.get("x-gateway-authorization");
  if (gateway === null && bearer !== null && looksLikeAccessToken(bearer)) return { kind: "broker_token", text: bearer };
  const token = gateway === null ? bearer : (bearerOf(gateway) ?? "");
  if (token !== null && looksLikeJwt(token)) return { kind: "token", text: token };
  if (inQuery !== null && looksLikeUploadToken(inQuery)) return { kind: "upload_token", text: inQuery };
  return { kind: candidates.length === 0 && gateway === null ? "missing" : "malformed" };
}

function bearerOf(header: string | null): string | null {
  return header !== null && /^bearer /i.test(header) ? header.slice(7).trim() : null;
}
