import { runtimeError } from "@gatehouse/contracts/portal-answers";
import type { z } from "zod";
import type { RouteCallers } from "../../road/admission/admit.ts";
import type { Call } from "../../road/call.ts";
import { EMPTY_VIEW } from "../../road/request/empty-view.ts";
import type { GovernedRoute } from "../../road/road-parts.ts";
import type { Exchange, Surface } from "../../road/surface.ts";
import { ownAnswer, type Answer, type WholeAnswer } from "../../road/answer.ts";
import { isRefusal, type ErrorCode, type Refusal, refuse, Refused } from "../../kernel/errors.ts";
import { isStorableText } from "../../kernel/text/storable.ts";
import { jsonObjectOf } from "../../wire/json/json-object.ts";
import { check, readQuery, utf8Of } from "../../wire/http/strict-input.ts";
import type { DescribedAnswer, DescribedRoute } from "../openapi/described-route.ts";
import { type PortalRequest, portalRequestOf } from "./portal-request.ts";
import type { PortalServices } from "./portal-services.ts";
import { portalRefusals } from "./refusals.ts";

interface Spec<Query, Body, Run> {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  /** Becomes the audit row's proxy_subtype. */
  readonly name: string;
  /** Default: `user`. */
  readonly admits?: RouteCallers;
  /** See `GovernedRoute`. */
  readonly authenticates?: true;
  /** See `GovernedRoute`. */
  readonly withoutCaller?: true;
  readonly query?: Query;
  readonly body?: Body;
  /** The error for a body that fails validation; default `invalid_body`. */
  readonly invalidBody?: ErrorCode;
  /** The body is a multipart form instead of JSON. */
  readonly form?: true;
  /** Default: 256 KB. */
  readonly maxBodyBytes?: number;
  /** Its summary in the OpenAPI document. */
  readonly summary: string;
  readonly answer: DescribedAnswer;
  readonly run: Run;
}

export interface PortalRoute extends Omit<GovernedRoute, "surface"> {
  readonly method: Spec<unknown, unknown, unknown>["method"];
  readonly path: string;
  readonly surface: (services: { readonly portal: PortalServices }) => Surface;
  readonly described: DescribedRoute;
}

type NoShape = z.ZodObject<Record<never, never>>;

const DEFAULT_BODY_BYTES = 256 * 1024;
const HEADERS = { "cache-control": "no-store", "x-content-type-options": "nosniff" } as const;

/**
 * An operation of the portal API as a route. `run` returns the JSON of a 200, an answer, or a refusal, which it may also throw as
 * `Refused`.
 */
export function portalOperation<Query extends z.ZodObject = NoShape, Body extends z.ZodObject = NoShape>(
  spec: Spec<Query, Body, (request: PortalRequest<z.output<Query>, z.output<Body>>) => Promise<unknown>>,
): PortalRoute {
  const pattern = new RegExp(`^${spec.path.replaceAll(/:(\w+)/g, "(?<$1>[^/]+)")}$`);
  const hasBody = spec.body !== undefined || spec.form === true;
  return {
    method: spec.method,
    path: spec.path,
    audit: { proxyType: "portal", proxySubtype: spec.name },
    admits: spec.admits ?? "user",
    body: hasBody || spec.method !== "GET",
    maxBodyBytes: spec.maxBodyBytes ?? DEFAULT_BODY_BYTES,
    ...(spec.authenticates === true ? { authenticates: true } : {}),
    ...(spec.withoutCaller === true ? { withoutCaller: true } : {}),
    described: {
      tag: "Portal",
      summary: spec.summary,
      ...(spec.query === undefined ? {} : { query: spec.query }),
      ...(spec.body === undefined ? {} : { body: spec.body }),
      ...(spec.form === true ? { form: true } : {}),
      answer: spec.answer,
      error: runtimeError,
    },
    surface: ({ portal }) => ({
      ...portalRefusals,
      read(call, bytes): Exchange | Refusal {
        return caught(() => {
          const url = new URL(call.url);
          const query = spec.query === undefined ? {} : check(spec.query, readQuery(url), "invalid_query");
          const body = spec.body === undefined ? {} : check(spec.body, bodyOf(call, bytes), spec.invalidBody ?? "invalid_body");
          const params = paramsOf(pattern, call.path);
          const request = portalRequestOf(portal, call, { params, query, body, bytes: bytes ?? new Uint8Array(0) });
          return { view: EMPTY_VIEW, answer: () => answered(() => spec.run(request as PortalRequest<z.output<Query>, z.output<Body>>)) };
        });
      },
    }),
  };
}

function caught<T>(work: () => T): T | Refusal {
  try {
    return work();
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    throw error;
  }
}

async function answered(work: () => Promise<unknown>): Promise<Answer | Refusal> {
  try {
    const result = await work();
    if (typeof result === "object" && result !== null && (isRefusal(result) || isAnswer(result))) return result as Answer | Refusal;
    return portalAnswer(200, result);
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    throw error;
  }
}

function isAnswer(value: object): value is Answer {
  return "kind" in value && (value.kind === "whole" || value.kind === "stream") && "status" in value;
}

/** A JSON answer with a status other than 200. */
export function portalAnswer(status: number, value: unknown): WholeAnswer {
  return ownAnswer(status, { ...HEADERS, "content-type": "application/json" }, JSON.stringify(value));
}

function bodyOf(call: Call, bytes: Uint8Array | null): Record<string, unknown> {
  const text = utf8Of(bytes ?? new Uint8Array(0));
  return text === "" ? {} : jsonObjectOf(text, call.headers.get("content-type") ?? "");
}

function paramsOf(pattern: RegExp, path: string): Record<string, string> {
  const groups = pattern.exec(path)?.groups ?? {};
  let params: [string, string][];
  try {
    params = Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]);
  } catch {
    throw new Refused(refuse("not_found"));
  }
  if (!params.every(([, value]) => isStorableText(value))) throw new Refused(refuse("not_found"));
  return Object.fromEntries(params);
}
