import type { Call } from "../../../road/call.ts";
import { randomBytes } from "node:crypto";
import { sha256Hex } from "../../../kernel/secrets.ts";
import type { AuthorizationParts } from "./authorization-parts.ts";
import type { Broker } from "./broker.ts";
import type { Holder } from "../../../road/admission/gateway-tokens.ts";
import { openEnvelope, sealEnvelope } from "../../../road/admission/envelope.ts";

/** A requested authorization, from a client or a connect link. It travels sealed through the browser. */
export type RequestedAuthorization =
  | {
      readonly kind: "client";
      readonly clientHash: string;
      readonly clientName: string;
      readonly redirectUri: string;
      readonly state: string | null;
      readonly challenge: string;
      readonly scope: string;
    }
  | {
      readonly kind: "connect";
      readonly tenantId: string;
      readonly type: "api_key" | "user";
      readonly id: string;
      readonly name: string;
      readonly scope: string;
    };

/** Whom it is for, once proven. */
export interface ProvenPrincipal {
  readonly holder: Holder;
  readonly tenantId: string;
  readonly type: "api_key" | "user";
  readonly id: string;
}

/** The state of an authorization at the issuer, against which the callback is checked. */
export interface Flow {
  readonly wanted: RequestedAuthorization;
  readonly proven: ProvenPrincipal | null;
  readonly verifier: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly browser: string;
}

const CONSENT_MS = 600_000;
const STATE_MS = 900_000;

type Parts = Pick<AuthorizationParts, "secrets" | "clock">;

/** A cookie that binds a flow to this browser, and the cookie's digest for the sealed state. */
export function newBrowserBinding(broker: Pick<Broker, "broker">): { cookie: string; browser: string } {
  const mark = randomBytes(24).toString("base64url");
  const flow = randomBytes(6).toString("hex");
  return { cookie: cookieOf(broker, flow, mark, CONSENT_MS + STATE_MS), browser: `${flow}.${sha256Hex(mark)}` };
}

/** Whether the request comes from the browser that began the flow. */
export function isSameBrowser({ headers }: Pick<Call, "headers">, browser: string): boolean {
  const [flow, hash] = browser.split(".");
  const name = `gw_oauth_${flow}=`;
  return (headers.get("cookie") ?? "")
    .split(";")
    .some((cookie) => cookie.trim().startsWith(name) && sha256Hex(cookie.trim().slice(name.length)) === hash);
}

export function expiredBrowserBinding(broker: Pick<Broker, "broker">, browser: string): string {
  return cookieOf(broker, browser.split(".")[0] as string, "", 0);
}

function cookieOf({ broker }: Pick<Broker, "broker">, flow: string, value: string, ms: number): string {
  const { pathname, protocol } = new URL(broker);
  // SameSite=Lax, because the issuer's redirect back is a cross-site navigation.
  return (
    `gw_oauth_${flow}=${value}; Path=${pathname}; Max-Age=${Math.floor(ms / 1000)}; HttpOnly; ` +
    `SameSite=Lax${protocol === "https:" ? "; Secure" : ""}`
  );
}

export function sealRequestedAuthorization(
  { secrets, clock }: Parts,
  { owner }: Pick<Broker, "owner">,
  wanted: RequestedAuthorization,
  browser: string,
): string {
  return sealEnvelope(secrets, "consent", owner, { wanted, browser }, clock.now() + CONSENT_MS);
}

export function openRequestedAuthorization(
  { secrets, clock }: Parts,
  { owner }: Pick<Broker, "owner">,
  text: string,
): { wanted: RequestedAuthorization; browser: string } | null {
  return openEnvelope(secrets, "consent", owner, text, clock.now());
}

export function sealFlow({ secrets, clock }: Parts, { owner }: Pick<Broker, "owner">, flow: Flow): string {
  return sealEnvelope(secrets, "state", owner, flow, clock.now() + STATE_MS);
}

export function openFlow({ secrets, clock }: Parts, { owner }: Pick<Broker, "owner">, text: string): Flow | null {
  return openEnvelope<Flow>(secrets, "state", owner, text, clock.now());
}
