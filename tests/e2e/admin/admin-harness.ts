import { KeySets } from "../../../server/directory/identity/key-sets.ts";
import { issuerDocuments } from "../../../server/upstreams/identity/issuer-documents.ts";
import { generateKeyPairSync } from "node:crypto";
import { adminApp, type AdminDeps } from "../../../server/surfaces/admin/app.ts";
import { firstStart } from "../../../server/directory/first-start.ts";
import { RefusedAttempts } from "../../../server/directory/people/refused-attempts.ts";
import type { Directory } from "../../../server/directory/writes/write.ts";
import { systemClock, type Clock } from "../../../server/kernel/clock.ts";
import { jsonLog } from "../../../server/kernel/log.ts";
import { secretBox } from "../../../server/kernel/secrets.ts";
import { dummyVerify, hashCode, hashPassword, verifyCode, verifyPassword } from "../../../server/runtime/passwords.ts";
import { OPERATIONS } from "../../../server/surfaces/admin/routes.ts";
import { outbound } from "../../../server/runtime/outbound.ts";
import { oidcClient } from "../../../server/upstreams/identity/oidc-client.ts";
import { samlClient } from "../../../server/upstreams/identity/saml-client.ts";
import { echoProvider } from "../../../server/upstreams/providers/echo/echo.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";

export const ADMIN_PASSWORD = "correct horse battery";
export const SECRET_KEY = new Uint8Array(32).fill(7);
/** The secret for the portal's tokens, which the control plane must not accept. */
export const JWT_SECRET = "0123456789abcdef0123456789abcdef";

export interface Reply {
  readonly status: number;
  readonly body: any;
  readonly headers: Headers;
}

export interface Send {
  (method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
}

export interface ControlPlane {
  readonly database: TestDatabase;
  readonly directory: Directory;
  readonly lines: string[];
  readonly attempts: RefusedAttempts;
  readonly fetch: (request: Request, ip?: string) => Promise<Response>;
  /** Sends without a credential. */
  readonly send: Send;
  as(token: string): Send;
  logIn(username: string, password: string, tenantId?: string, ip?: string): Promise<Reply>;
  /** Sends as the system administrator. */
  readonly system: Send;
  close(): Promise<void>;
}

/** A clock that can be advanced. */
export function movableClock(): Clock & { advance(ms: number): void } {
  const real = systemClock();
  let ahead = 0;
  return { now: () => real.now() + ahead, micros: () => real.micros() + ahead * 1000, advance: (ms) => (ahead += ms) };
}

/** A control plane over a new database after its first start. */
export async function controlPlane(options: Partial<AdminDeps> = {}): Promise<ControlPlane> {
  const database = await testDatabase();
  const lines: string[] = [];
  const clock = options.clock ?? systemClock();
  const secrets = secretBox(SECRET_KEY);
  const directory: Directory = { db: database.db, secrets, clock, hashPassword, fallbackJudge: null };
  await firstStart({ directory, bootstrapAdminPassword: ADMIN_PASSWORD, quickstart: false, env: {} });
  const attempts = new RefusedAttempts(database.db, clock);
  const app = adminApp({
    attempts,
    db: database.db,
    secrets,
    clock,
    log: jsonLog("debug", (line) => lines.push(line)),
    jwtExpirySeconds: 3600,
    fallbackJudge: null,
    learning: { calls: 1_000, days: 7 },
    signingKey: generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    passwords: { hashPassword, verifyPassword, dummyVerify, hashCode, verifyCode },
    signOn: {
      oidc: oidcClient(outbound({ allowPrivate: true }), true),
      saml: samlClient(),
      keys: new KeySets(issuerDocuments(outbound({ allowPrivate: true })), clock),
    },
    upstream: { clock, providers: { echo: echoProvider(clock) } },
    toolServers: { discover: async () => ({ status: "inconclusive", detail: "There is no network here." }) },
    agentCards: async () => ({ status: "inconclusive", signature: null, detail: "There is no network here." }),
    health: {
      "/healthz": () => Response.json({ status: "alive" }),
      "/readyz": () => Response.json({}),
      "/metrics": () => new Response(""),
    },
    ...options,
  });
  const fetch = (request: Request, ip = "10.0.0.1") => app.fetch(request, { ip });
  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}, ip?: string): Promise<Reply> => {
    const given = body === undefined ? {} : { body: JSON.stringify(body) };
    const type: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
    const response = await fetch(new Request(`http://gateway.test${path}`, { method, headers: { ...type, ...headers }, ...given }), ip);
    const text = await response.text();
    const answer = response.headers.get("content-type")?.match(/^application\/json\b/) != null ? JSON.parse(text) : text;
    checkAnswer(method, path, response.status, answer);
    return { status: response.status, body: answer, headers: response.headers };
  };
  const as =
    (token: string): Send =>
    (method, path, body, headers) =>
      send(method, path, body, { authorization: `Bearer ${token}`, ...headers });
  const logIn = (username: string, password: string, tenantId?: string, ip?: string) =>
    send(
      "POST",
      `/v1/admin-users/${tenantId === undefined ? "system" : "tenant"}/login`,
      { username, password, ...(tenantId === undefined ? {} : { tenant_id: tenantId }) },
      {},
      ip,
    );
  const first = await logIn("admin", ADMIN_PASSWORD);
  return {
    database,
    directory,
    lines,
    attempts,
    fetch,
    send,
    as,
    logIn,
    system: as(first.body.access_token),
    close: () => database.close(),
  };
}

/** Validates every successful answer of every test against the schema in the OpenAPI document. */
function checkAnswer(method: string, path: string, status: number, body: unknown): void {
  if (status >= 300) return;
  const pathname = new URL(path, "http://x").pathname;
  const operation = OPERATIONS.find(
    (one) => one.method === method && new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(pathname),
  );
  operation?.answer.schema?.parse(body);
}

export interface TenantWithAdmin {
  readonly id: string;
  readonly send: Send;
  readonly admin: { id: string; username: string };
}

/** Creates a tenant with one administrator, signed in. */
export async function newTenant(plane: ControlPlane, id: string, role = "owner"): Promise<TenantWithAdmin> {
  const made = await plane.system("POST", "/v1/admin/tenants", { id, name: id });
  if (made.status !== 201 && made.status !== 409) throw new Error(JSON.stringify(made.body));
  const username = `${role}-of-${id}`;
  const admin = await plane.system("POST", "/v1/admin/admin-users", { tenant_id: id, username, password: ADMIN_PASSWORD, role });
  if (admin.status !== 201) throw new Error(JSON.stringify(admin.body));
  const login = await plane.logIn(username, ADMIN_PASSWORD, id);
  return { id, send: plane.as(login.body.access_token), admin: { id: admin.body.id, username } };
}
