import { noteRefusedDeed } from "../../directory/provisioning/provisioning-log.ts";
import { scimCallerOf, type ScimCaller } from "../../directory/provisioning/scim-tokens.ts";
import { type Actor, type Directory, write } from "../../directory/writes/write.ts";
import { namesTag } from "../../kernel/http/entity-tags.ts";
import { httpStatusOf, isRefusal, type Refusal, Refused } from "../../kernel/errors.ts";
import { internalErrorOf } from "../../kernel/internal-error.ts";
import { ulid } from "../../kernel/ids.ts";
import { networkOf } from "../../kernel/http/ip-address.ts";
import type { Log } from "../../kernel/log.ts";
import { streamOfPieces } from "../../kernel/http/stream-of-pieces.ts";
import { readBody } from "../../road/request/read-body.ts";
import { caselessObjectOf } from "../../wire/json/json-object.ts";
import { SCIM_PATH } from "../../wire/scim/scim-path.ts";
import { ScimError, type ScimType } from "../../wire/scim/scim-error.ts";
import { utf8Of } from "../../wire/http/strict-input.ts";
import { listDocument, resourceTypeDocuments, schemaDocuments, serviceProviderConfig } from "./discovery.ts";
import { notAllowed, type ScimAnswer, type ScimExchange } from "./exchange.ts";
import { groupEndpoint } from "./group-endpoint.ts";
import { userEndpoint } from "./user-endpoint.ts";

export interface ScimParts {
  readonly directory: Directory;
  readonly log: Log;
  /** Address of the control plane as directories know it; that of each request if undefined. */
  readonly publicUrl?: string | undefined;
}

const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Most concurrent requests of one directory. A client that is told to wait does so, while one left waiting gives up. */
const AT_ONCE = 32;
const SEARCH = ".search";
const MAX_IGNORED = 50;
const ERROR_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:Error";
const HEADERS = { "content-type": "application/scim+json", "cache-control": "no-store", "x-content-type-options": "nosniff" };

/** The SCIM provisioning API (RFC 7644). */
export function scimApp({ directory, log, publicUrl }: ScimParts): { fetch(request: Request, info: { ip: string }): Promise<Response> } {
  const open = new Map<string, number>();
  return {
    async fetch(request, { ip }) {
      const requestId = ulid();
      const method = request.method === "HEAD" ? "GET" : request.method;
      try {
        const bearer = /^Bearer +(\S+) *$/i.exec(request.headers.get("authorization") ?? "")?.[1];
        const caller = bearer === undefined ? null : await scimCallerOf(directory, bearer);
        if (caller === null) throw new ScimError(401, "Missing or invalid token.", undefined, { "www-authenticate": "Bearer" });
        const waiting = open.get(caller.tokenId) ?? 0;
        if (waiting >= AT_ONCE)
          throw new ScimError(429, `At most ${AT_ONCE} requests of a directory are worked on at once.`, "tooMany", { "retry-after": "1" });
        open.set(caller.tokenId, waiting + 1);
        try {
          const answer = await served({ directory, log, publicUrl }, caller, request, method, { ip, requestId });
          return sent(method === "GET" ? unlessKnown(request, answer) : answer, requestId);
        } finally {
          const left = (open.get(caller.tokenId) ?? 1) - 1;
          if (left === 0) open.delete(caller.tokenId);
          else open.set(caller.tokenId, left);
        }
      } catch (error) {
        return sent(errorAnswer(error, log, requestId), requestId);
      }
    },
  };
}

function sent({ status, body, pieces, headers }: ScimAnswer, requestId: string): Response {
  const all = { ...HEADERS, ...headers, "x-request-id": requestId };
  if (pieces !== undefined)
    return new Response(streamOfPieces(pieces) as ReadableStream<Uint8Array<ArrayBuffer>>, { status, headers: all });
  return body === undefined ? new Response(null, { status, headers: all }) : new Response(JSON.stringify(body), { status, headers: all });
}

async function served(
  { directory, log, publicUrl }: ScimParts,
  caller: ScimCaller,
  request: Request,
  method: string,
  origin: { ip: string; requestId: string },
): Promise<ScimAnswer> {
  const url = new URL(request.url);
  const base = `${publicUrl ?? url.origin}${SCIM_PATH}`;
  const [type = "", id, ...more] = url.pathname.slice(SCIM_PATH.length).split("/").slice(1).map(decoded);
  if (more.length > 0 && type !== "Schemas") throw new ScimError(404, "There is nothing at this address.");
  const ignored = new Set<string>();
  const actor: Actor = {
    id: caller.tokenId,
    username: caller.tokenName,
    role: "directory",
    clientIp: origin.ip,
    requestId: origin.requestId,
  };
  const exchange: ScimExchange = {
    caller,
    directory,
    request,
    id: id === "" ? undefined : id,
    query: url.searchParams,
    base,
    ignore: (name) => ignored.size < MAX_IGNORED && ignored.add(name.replace(/^([^[]*)\[[\s\S]*\]/, "$1[]").slice(0, 200)),
    asked: () => ({ method, ignored: [...ignored], expects: expectation(request) }),
    body: () => readJson(request, origin.ip),
    write: (work) => write(directory, actor, work),
  };
  const resourceType = type === "Users" ? "User" : type === "Groups" ? "Group" : undefined;
  if (resourceType === undefined) return discovered(type, exchange, method);
  const endpoint = resourceType === "User" ? userEndpoint : groupEndpoint;
  if (id === SEARCH) {
    if (method !== "POST") throw notAllowed("POST");
    return endpoint({ ...exchange, id: undefined, query: searchOf(await exchange.body()) }, "GET");
  }
  try {
    return await endpoint(exchange, method);
  } catch (error) {
    const answer = errorAnswer(error, log, origin.requestId);
    // Failed reads are normal: a directory looks before it writes.
    if (method !== "GET" && answer.status < 500)
      await noteRefusedDeed(directory, caller, {
        method,
        resourceType,
        resourceId: exchange.id?.slice(0, 100) ?? null,
        status: answer.status,
        outcome: answer.status === 409 ? "conflict" : "refused",
        detail: { reason: String(answer.body?.detail ?? ""), ...(ignored.size === 0 ? {} : { ignored: [...ignored] }) },
      });
    return answer;
  }
}

/** A search with its query in the body, which keeps it out of access logs (RFC 7644, section 3.4.3). */
function searchOf(body: Record<string, unknown>): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of ["filter", "startIndex", "count", "attributes", "excludedAttributes"]) {
    const value = body[name];
    if (value === undefined || value === null) continue;
    if (!Array.isArray(value) && typeof value !== "string" && typeof value !== "number")
      throw new ScimError(400, `${name} must be a text or a number.`, "invalidValue");
    query.set(name, Array.isArray(value) ? value.map(String).join(",") : String(value));
  }
  return query;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new ScimError(404, "There is nothing at this address.");
  }
}

/** Endpoints of RFC 7644, sections 3.7 and 3.11, that directories may try and that are not supported. */
const NOT_SUPPORTED = new Set(["Bulk", "Me"]);

function discovered(type: string, { base, id }: ScimExchange, method: string): ScimAnswer {
  if (type === SEARCH) throw new ScimError(501, "Users and groups are not searched together: POST to /Users/.search or /Groups/.search.");
  if (NOT_SUPPORTED.has(type)) throw new ScimError(501, `/${type} is not supported.`);
  const documents: Record<string, () => Record<string, unknown>[]> = {
    Schemas: () => schemaDocuments(base),
    ResourceTypes: () => resourceTypeDocuments(base),
  };
  const list = Object.hasOwn(documents, type) ? documents[type] : undefined;
  if (list === undefined && type !== "ServiceProviderConfig") throw new ScimError(404, "There is nothing at this address.");
  if (method !== "GET") throw notAllowed("GET");
  if (list === undefined) return { status: 200, body: serviceProviderConfig(base) };
  if (id === undefined) return { status: 200, body: listDocument(list()) };
  const found = list().find((one) => one.id === id);
  if (found === undefined) throw new ScimError(404, "There is nothing at this address.");
  return { status: 200, body: found };
}

async function readJson(request: Request, ip: string): Promise<Record<string, unknown>> {
  const read = await readBody(request, MAX_BODY_BYTES, { place: networkOf(ip) });
  if (isRefusal(read)) throw new Refused(read);
  return caselessObjectOf(utf8Of(read), request.headers.get("content-type") ?? "");
}

/** The condition of If-Match, which names one version or several. */
function expectation(request: Request): (version: number) => boolean {
  const given = request.headers.get("if-match");
  if (given === null || given.trim() === "*") return () => true;
  const versions = given.split(",").map((one) => one.trim().replace(/^W\//, "").replaceAll('"', ""));
  return (version) => versions.includes(String(version));
}

/** Applies If-None-Match: answers 304 to a client that has this version (RFC 7644, section 3.14). */
function unlessKnown(request: Request, answer: ScimAnswer): ScimAnswer {
  const given = request.headers.get("if-none-match");
  const tag = answer.headers?.etag;
  if (given === null || tag === undefined || answer.status !== 200) return answer;
  return namesTag(given, tag) ? { status: 304, headers: answer.headers ?? {} } : answer;
}

const TYPES: Readonly<Record<string, ScimType>> = {
  conflict: "uniqueness",
  invalid_body: "invalidSyntax",
  ambiguous_name: "invalidSyntax",
};

function errorAnswer(error: unknown, log: Log, requestId: string): ScimAnswer {
  if (error instanceof ScimError) return errorBody(error.status, error.message, error.scimType, error.headers);
  if (error instanceof Refused) return refusalAnswer(error.refusal);
  log.error("provisioning_failed", { requestId, error: error instanceof Error ? error : new Error(String(error)) });
  return refusalAnswer(internalErrorOf(error));
}

function refusalAnswer(refusal: Refusal): ScimAnswer {
  return errorBody(httpStatusOf(refusal), refusal.message, TYPES[refusal.code], refusal.headers);
}

function errorBody(status: number, detail: string, scimType?: ScimType, headers: Readonly<Record<string, string>> = {}): ScimAnswer {
  return {
    status,
    headers,
    body: { schemas: [ERROR_SCHEMA], status: String(status), ...(scimType === undefined ? {} : { scimType }), detail },
  };
}
