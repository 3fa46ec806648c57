import { scriptTrial } from "../../services/tools/skills/try-script.ts";
import { Hono } from "hono";
import { AddressThrottle, type SharedUses } from "../../directory/people/address-throttle.ts";
import { adminTokens } from "../../directory/people/admin-tokens.ts";
import { LoginThrottle } from "../../directory/people/login-throttle.ts";
import type { SharedFailures } from "../../directory/people/shared-failures.ts";
import type { PasswordHashing } from "../../directory/people/portal/password-work.ts";
import type { Logins } from "../../directory/people/logins.ts";
import type { RefusedAttempts } from "../../directory/people/refused-attempts.ts";
import type { WelcomeMailer } from "../../directory/people/welcome-mail.ts";
import type { Directory } from "../../directory/writes/write.ts";
import type { Clock } from "../../kernel/clock.ts";
import { ERRORS, refuse } from "../../kernel/errors.ts";
import { ulid } from "../../kernel/ids.ts";
import type { Log } from "../../kernel/log.ts";
import type { SecretBox } from "../../kernel/secrets.ts";
import { SignOn, type SignOnParts } from "../../services/sign-on/sign-on.ts";
import { allowOf } from "../../wire/http/allow.ts";
import { nearestRoute, nearestText } from "../../wire/http/nearest-route.ts";
import { errorAnswer, refusalAnswer } from "./answers.ts";
import { openApiDocument } from "./document.ts";
import { performer } from "./perform.ts";
import { recordRoutes } from "./record-route.ts";
import { requestIdOf } from "./request-id.ts";
import { OPERATIONS } from "./routes.ts";
import { agentsAsServed } from "../../services/agents/agents-as-served.ts";
import { policyBench } from "../../controls/semantic-policies/policy-bench.ts";
import { type SearchBench, searchBench } from "../../services/knowledge/search-bench.ts";
import type { AdminServices, HealthHandler, LiveChain } from "./services.ts";

export interface AdminDeps {
  readonly db: Directory["db"];
  readonly secrets: SecretBox;
  readonly clock: Clock;
  readonly log: Log;
  readonly jwtExpirySeconds: number;
  readonly fallbackJudge: Directory["fallbackJudge"];
  readonly learning: AdminServices["learning"];
  readonly signingKey: string;
  readonly passwords: Pick<PasswordHashing, "hashPassword" | "verifyPassword" | "dummyVerify" | "hashCode" | "verifyCode">;
  /** Undefined if no mail server is configured. */
  readonly welcome?: WelcomeMailer | undefined;
  readonly signOn: Omit<SignOnParts, "directory" | "uses" | "log">;
  /** If undefined, failed logins are counted in this process alone. */
  readonly sharedFailures?: (SharedFailures & { readonly uses: SharedUses }) | undefined;
  readonly adminPublicUrl?: string | undefined;
  /** Address of the runtime plane, as configured. */
  readonly publicUrl?: string | undefined;
  readonly upstream: AdminServices["upstream"];
  readonly toolServers: AdminServices["toolServers"];
  /** If undefined, tokens are not revoked at their issuer. */
  readonly giveUpTokens?: AdminServices["giveUpTokens"] | undefined;
  readonly agentCards?: AdminServices["agentCards"] | undefined;
  readonly tryScript?: AdminServices["tryScript"] | undefined;
  readonly gitBundles?: AdminServices["gitBundles"] | undefined;
  readonly tryImport?: AdminServices["tryImport"] | undefined;
  /** If undefined, searches by words only. */
  readonly searchKnowledge?: SearchBench | undefined;
  readonly tryPolicy?: AdminServices["tryPolicy"] | undefined;
  /** From `status()` of this process's ledger, so that verifying its own chain also checks what the writer knows. */
  readonly liveChain?: (() => LiveChain | null) | undefined;
  readonly gatewayOrigins?: readonly string[] | undefined;
  readonly verified?: AdminServices["verified"] | undefined;
  /** The caller must have its entries written to the admin log. */
  readonly attempts: RefusedAttempts;
  readonly refused?: ((reason: string) => void) | undefined;
  /** By path: `/healthz`, `/readyz`, `/metrics`. Missing ones answer 404. */
  readonly health: Readonly<Record<string, HealthHandler>>;
}

export interface AdminApp {
  /** `ip` is the peer's address. Never throws. */
  fetch(request: Request, info: { ip: string }): Promise<Response>;
}

const RUNTIME_PLANES = /^\/v1(?:beta)?\/(?:proxy|portal|messages|models|runs|ingest)(?:\/|$)/;

/** The control plane: every route of `routes.ts`, and error handling around them. */
export function adminApp(deps: AdminDeps): AdminApp {
  const services = servicesOf(deps);
  const app = new Hono<{ Bindings: { ip: string } }>({ strict: false });
  const routes = OPERATIONS.map((operation) => ({
    operation,
    method: operation.method,
    path: operation.path.replaceAll(/\{(\w+)\}/g, ":$1"),
  }));
  let records: ReturnType<typeof recordRoutes> | undefined;
  for (const { operation, path } of routes) {
    // Made at its first request, because making the schemas of 400 routes is a tenth of the work of a start.
    let perform: ReturnType<typeof performer> | undefined;
    app.on(operation.method, path, async (context) => {
      const request = context.req.raw;
      const requestId = requestIdOf(request);
      const arrival = { request, params: context.req.param() as Record<string, string>, address: context.env.ip, requestId };
      perform ??= performer(services, operation, (records ??= recordRoutes(OPERATIONS)).get(operation));
      const response = await perform(arrival).catch((error: unknown) =>
        errorAnswer(error, deps.log, { method: operation.method, path: operation.path, requestId }),
      );
      response.headers.set("x-request-id", requestId);
      // Only headers are sent, and the body's source, such as an export in a transaction, would wait for a reader forever.
      if (request.method === "HEAD") await response.body?.cancel();
      return response;
    });
  }
  const unserved = (code: "method_not_allowed" | "not_found", more: string, headers: Record<string, string> = {}) => {
    services.refused(code);
    return refusalAnswer(refuse(code, ERRORS[code].message + more, { headers: { "x-request-id": ulid(), ...headers } }));
  };
  for (const [path, allow] of allowOf(routes)) app.all(path, () => unserved("method_not_allowed", ` It answers ${allow}.`, { allow }));
  app.notFound((context) => {
    const { method, path } = context.req;
    return unserved(
      "not_found",
      RUNTIME_PLANES.test(path) ? " Calls go to the runtime plane's address." : nearestText(nearestRoute({ method, path }, routes)),
    );
  });
  app.onError((error) => errorAnswer(error, deps.log, { method: "", path: "", requestId: "" }));
  return { fetch: async (request, info) => app.fetch(request, { ip: info.ip }) };
}

function servicesOf(deps: AdminDeps): AdminServices {
  const directory: Directory = {
    db: deps.db,
    secrets: deps.secrets,
    clock: deps.clock,
    hashPassword: deps.passwords.hashPassword,
    fallbackJudge: deps.fallbackJudge,
  };
  const logins: Logins = {
    directory,
    tokens: adminTokens({ keys: deps.secrets.keys("admin-token"), expirySeconds: deps.jwtExpirySeconds, clock: deps.clock }),
    throttle: new LoginThrottle(deps.clock, deps.sharedFailures),
    verifyPassword: deps.passwords.verifyPassword,
    dummyVerify: deps.passwords.dummyVerify,
    hashCode: deps.passwords.hashCode,
    verifyCode: deps.passwords.verifyCode,
  };
  let document: object | undefined;
  return {
    directory,
    logins,
    signOn: new SignOn({ ...deps.signOn, directory, uses: new AddressThrottle(deps.clock, deps.sharedFailures?.uses), log: deps.log }),
    adminPublicUrl: deps.adminPublicUrl ?? null,
    welcome: deps.welcome ?? (async () => false),
    upstream: deps.upstream,
    toolServers: deps.toolServers,
    giveUpTokens: deps.giveUpTokens ?? (async () => undefined),
    agentCards: deps.agentCards ?? (async () => ({ status: "inconclusive", detail: "Cards are not looked for here.", signature: null })),
    agentsAsServed: agentsAsServed({
      clock: deps.clock,
      log: deps.log,
      publicUrl: deps.publicUrl ?? null,
      gatewayOrigins: deps.gatewayOrigins ?? [],
    }),
    tryScript: deps.tryScript ?? scriptTrial(null),
    gitBundles: deps.gitBundles ?? (async () => ({ field: "file", message: "is a Git bundle, which is not read here" })),
    tryImport: deps.tryImport ?? (async () => ({ ok: false, detail: "Vendors are not asked here.", duration_ms: 0 })),
    searchKnowledge: deps.searchKnowledge ?? searchBench(deps.db, null),
    tryPolicy: deps.tryPolicy ?? policyBench(null),
    gatewayOrigins: deps.gatewayOrigins ?? [],
    liveChain: deps.liveChain ?? (() => null),
    verified: deps.verified ?? (() => undefined),
    attempts: deps.attempts,
    refused: deps.refused ?? (() => undefined),
    health: deps.health,
    learning: deps.learning,
    signingKey: deps.signingKey,
    log: deps.log,
    document: () => (document ??= openApiDocument(OPERATIONS, recordRoutes(OPERATIONS))),
  };
}
