import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import pg from "pg";
import { compose, type Gateway } from "../../server/compose.ts";
import { Limits } from "../../server/controls/limits/limits.ts";
import { EMPTY_VIEW } from "../../server/road/request/empty-view.ts";
import type { Exchange, Surface } from "../../server/road/surface.ts";
import type { StreamAnswer } from "../../server/road/answer.ts";
import type { Call } from "../../server/road/call.ts";
import { readConfiguration } from "../../server/kernel/configuration/configuration.ts";
import { refuse } from "../../server/kernel/errors.ts";
import type { Log } from "../../server/kernel/log.ts";
import { GOVERNED_ROUTES, type Governed } from "../../server/routes.ts";
import { serveModels, signIn } from "../support/worlds/admin.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { type FakeUpstream, startFakeUpstream } from "../support/vendors/fake-upstream.ts";
import { ADMIN_PASSWORD, removeDirectory, temporaryDirectory } from "../support/gateway.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { FURTHER_BODIES, WELL_FORMED, type WellFormed } from "../support/tool-servers/well-formed-requests.ts";
import { newPerson } from "../support/worlds/portal.ts";
import { type AgentFixture, startAgent } from "../support/tool-servers/agents.ts";
import { startHandshakeServer, type ToolServerFixture } from "../support/tool-servers/tool-servers.ts";

/**
 * Drives every route of the runtime plane into each of its exits: each call leaves exactly one row. The routes come from the gateway's own
 * table, so a new route is included automatically and needs an entry with a request that succeeds.
 */
const MAX_BODY_MB = 1;

/** This header makes the gateway fail with an unexpected error at the point it names. */
const FAULT = "x-test-fault";
const FAULTS = [
  "in reading the request",
  "in a control",
  "in answering",
  "in a stream",
  "in counting what was used",
  "in telling the refusal",
  "in telling the end of a stream",
] as const;
type Fault = (typeof FAULTS)[number] | "never answers";

const broken = (where: string): never => {
  throw new Error(`broken ${where}, as the test asked`);
};

function faultOf({ headers }: Pick<Call, "headers">): Fault | null {
  return headers.get(FAULT) as Fault | null;
}

/** Wraps a surface so that it fails where the request asks it to. */
function breakable(surface: Surface): Surface {
  return {
    read(call, body) {
      const fault = faultOf(call);
      if (fault === null) return surface.read(call, body);
      if (fault === "in reading the request") return broken(fault);
      return { view: EMPTY_VIEW, answer: () => answerTo(fault, call) } satisfies Exchange;
    },
    refusal: (refusal, call) =>
      call !== null && faultOf(call) === "in telling the refusal" ? broken("in telling the refusal") : surface.refusal(refusal, call),
    streamError: (refusal, call, last) => surface.streamError(refusal, call, last),
  };

  async function answerTo(fault: Fault, call: Parameters<Exchange["answer"]>[0]): Promise<Awaited<ReturnType<Exchange["answer"]>>> {
    if (fault === "in answering") broken(fault);
    if (fault === "in a stream" || fault === "in telling the end of a stream") return brokenStream(fault);
    if (fault === "in telling the refusal") return refuse("internal_error");
    waiting.set(call.row.correlation_id ?? "", call.id);
    if (fault === "never answers")
      await new Promise<void>((resolve) => call.abort.signal.addEventListener("abort", () => resolve(), { once: true }));
    return { kind: "whole", status: 200, headers: {}, body: new Uint8Array(0), usage: null, failure: null };
  }
}

function brokenStream(fault: Fault): StreamAnswer {
  const upstream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const text of ["one", "two"]) controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  }).getReader();
  let pieces = 0;
  const codec: StreamAnswer["codec"] = {
    push: (piece) => (++pieces > 1 && fault === "in a stream" ? broken(fault) : piece),
    end: () => ({ complete: true, last: null, errorReported: false }),
    begun: true,
    get usage() {
      return fault === "in telling the end of a stream" ? broken(fault) : null;
    },
    outputLength: 0,
    providerError: null,
  };
  return { kind: "stream", status: 200, headers: { "content-type": "text/event-stream" }, upstream, codec, head: [], inputCharacters: 1 };
}

const original = GOVERNED_ROUTES.map(({ surface }) => surface);
const { decide, settle } = Limits.prototype;

let database: TestDatabase;
let upstream: FakeUpstream;
let agent: AgentFixture;
let tools: ToolServerFixture;
let vectors: ReturnType<typeof Bun.serve>;
let gateway: Gateway;
let dataDir: string;
let names: { apiKey: string; token: string; toolServer: string; virtualServer: string };
const logged: string[] = [];

beforeAll(async () => {
  for (const route of GOVERNED_ROUTES) {
    const { surface } = route;
    Object.assign(route, {
      surface:
        typeof surface === "function" ? (services: Parameters<typeof surface>[0]) => breakable(surface(services)) : breakable(surface),
    });
  }
  Limits.prototype.decide = function (call, view) {
    return faultOf(call) === "in a control" ? broken("in a control") : decide.call(this, call, view);
  };
  Limits.prototype.settle = function (call) {
    return faultOf(call) === "in counting what was used" ? broken("in counting what was used") : settle.call(this, call);
  };
  database = await testDatabase({ likeOthers: false });
  upstream = startFakeUpstream();
  tools = startHandshakeServer();
  vectors = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) =>
      url.endsWith("/audio/speech")
        ? new Response("sound", { headers: { "content-type": "audio/mpeg" } })
        : Response.json({
            object: "list",
            model: "vectors",
            data: [{ object: "embedding", index: 0, embedding: [1, 2], b64_json: "aGk=" }],
            results: [],
            usage: { prompt_tokens: 1, total_tokens: 1 },
          }),
  });
  dataDir = await temporaryDirectory();
  const env = {
    GW_RUNTIME_PORT: "0",
    GW_ADMIN_PORT: "0",
    GW_DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    GW_BOOTSTRAP_ADMIN_PASSWORD: ADMIN_PASSWORD,
    GW_MAX_BODY_MB: String(MAX_BODY_MB),
    // The test sends more unauthenticated requests per minute than one address is normally allowed.
    GW_STRANGER_ROWS_PER_MINUTE: "100000",
  };
  const note = (event: string) => void logged.push(event);
  const log: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: note };
  gateway = await compose(readConfiguration(env), env, log);
  const admin = await signIn(gateway.adminUrl);
  const served = await serveModels(admin, upstream.baseUrl, ["fake-1", "broken", "bad-request", "short"]);
  await admin.post("/v1/admin/providers", {
    tenant_id: "default",
    provider_key: "vectors",
    name: "vectors",
    api_format: "openai",
    base_url: `http://127.0.0.1:${vectors.port}/v1`,
    api_key: "sk-upstream-secret-0002",
  });
  await admin.post("/v1/admin/llms", {
    tenant_id: "default",
    name: "vectors",
    model_name: "vectors",
    mode: "embedding",
    provider: "vectors",
    enabled: true,
    group_ids: [served.groupId],
  });
  for (const [name, mode] of [
    ["pictures", "image"],
    ["judge", "moderation"],
    ["ranks", "rerank"],
    ["voice", "audio_speech"],
  ])
    await admin.post("/v1/admin/llms", {
      tenant_id: "default",
      name,
      model_name: name,
      mode,
      provider: "vectors",
      enabled: true,
      group_ids: [served.groupId],
    });
  const server = await admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "tools", base_url: tools.baseUrl });
  await admin.post("/v1/admin/server-configs", {
    tenant_id: "default",
    mcp_server_id: server.id,
    name: "tools for all",
    group_ids: [served.groupId],
    enabled: true,
  });
  agent = await startAgent();
  const registered = await admin.post("/v1/admin/agents", {
    tenant_id: "default",
    card_name: "fixture",
    name: "fixture",
    base_url: agent.url,
  });
  await admin.post("/v1/admin/agent-grants", { tenant_id: "default", agent_id: registered.id, group_ids: [served.groupId] });
  const virtual = await admin.post("/v1/admin/virtual-servers", {
    tenant_id: "default",
    name: "many",
    display_name: "Many",
    mcp_server_ids: [server.id],
    group_ids: [served.groupId],
    enabled: true,
  });
  const person = await newPerson(gateway.runtimeUrl as string, "person");
  names = { apiKey: served.apiKey, token: person.token as string, toolServer: server.id, virtualServer: virtual.id };
});
afterAll(async () => {
  await gateway?.stop();
  for (const [index, route] of GOVERNED_ROUTES.entries()) Object.assign(route, { surface: original[index] });
  Object.assign(Limits.prototype, { decide, settle });
  await agent?.stop();
  await tools?.stop();
  await vectors?.stop(true);
  await upstream?.stop();
  await database?.close();
  await removeDirectory(dataDir);
});

interface Sent {
  readonly id: string;
  readonly route: Governed;
  readonly status: number | "gone";
  readonly fault: string | undefined;
}

let sent: Sent[] = [];
beforeEach(() => {
  sent = [];
});

interface Asked {
  readonly path?: string | undefined;
  readonly body?: BodyInit | null | undefined;
  readonly headers?: Record<string, string> | undefined;
  readonly credential?: "own" | "none" | "unknown";
  /** Disconnects once the request is in progress. */
  readonly hangUp?: boolean;
}

let count = 0;
const nameOf = ({ method, path }: Governed) => `${method} ${path}`;

/** The route's path with its parameters filled in. */
function pathOf(route: Governed): string {
  return route.path
    .replace(/:(?:call|model_id|model)\{\.\+(:\w+)?\}/g, (_, method = "") => `${/embed/i.test(method) ? "vectors" : "fake-1"}${method}`)
    .replace(":deployment{.+}", (WELL_FORMED[nameOf(route)]?.body as { model?: string })?.model ?? "fake-1")
    .replace(/:path\{\.\+\}/g, "sub/path")
    .replace(":tenant_id/:card_name", "default/fixture")
    .replace("/.well-known/a2a-jwks/:tenant_id", "/.well-known/a2a-jwks/default")
    .replace(/:verb\{(message:\w+)\}/, "$1")
    .replace(/:(?:task|file_id)\{\[\^\/\]\+(:\w+)\}/, (_, verb: string) => crypto.randomUUID() + verb)
    .replace(/^\/v1\/proxy\/a2a\/\w+$/, "$&?agent=fixture")
    .replace(":virtual_server_id", names.virtualServer)
    .replace(":server_id{system-agent-skill-server-[^/]+}", "system-agent-skill-server-default")
    .replace(":server_id", names.toolServer)
    .replaceAll(/\/:\w+/g, () => `/${crypto.randomUUID()}`);
}

function credentialOf({ admits }: Governed, credential: Asked["credential"]): Record<string, string> {
  if (credential === "none") return {};
  if (credential === "unknown") return { "x-api-key": `sk_gw_api_${"u".repeat(43)}` };
  if (admits === "user" || admits === "user_or_key") return { authorization: `Bearer ${names.token}` };
  return { "x-api-key": names.apiKey };
}

async function ask(route: Governed, asked: Asked = {}): Promise<number | "gone"> {
  const claim = `exit-${++count}`;
  const gone = new AbortController();
  const body = asked.body ?? (route.body === false || route.method === "GET" ? null : "{}");
  const response = fetch(`${gateway.runtimeUrl}${asked.path ?? pathOf(route)}`, {
    method: route.method,
    redirect: "manual",
    signal: gone.signal,
    headers: {
      ...(body === null || body instanceof FormData ? {} : { "content-type": "application/json" }),
      accept: "application/json, text/event-stream",
      "x-correlation-id": claim,
      "anthropic-version": "2023-06-01",
      ...credentialOf(route, asked.credential ?? "own"),
      ...asked.headers,
    },
    ...(body === null ? {} : { body }),
  });
  let status: number | "gone" = "gone";
  let id: string | null | undefined;
  if (asked.hangUp) {
    while (!waiting.has(claim)) await new Promise((resolve) => setTimeout(resolve, 1));
    gone.abort();
    await response.catch(() => undefined);
    id = waiting.get(claim);
  } else {
    const answer = await response;
    status = answer.status;
    id = answer.headers.get("x-request-id");
    // An open event stream ends only when its reader disconnects.
    if (
      answer.headers.get("content-type")?.startsWith("text/event-stream") &&
      asked.headers?.[FAULT] === undefined &&
      route.method === "GET"
    )
      await answer.body?.cancel();
    else await answer.arrayBuffer().catch(() => undefined);
  }
  sent.push({ id: id ?? claim, route, status, fault: asked.headers?.[FAULT] });
  return status;
}

/** Call IDs of requests that are waiting for an answer that never comes, by the request's claimed ID. */
const waiting = new Map<string, string>();

/** Every request that was sent has exactly one row, with its route's type. */
afterEach(async () => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const { rows } = await client.query<{
        id: string;
        n: number;
        proxy_type: string;
        error_type: string | null;
        http_status_code: number;
      }>(
        "SELECT id, count(*)::int AS n, min(proxy_type) AS proxy_type, min(error_type) AS error_type, min(http_status_code) AS http_status_code FROM audit_rows WHERE id = ANY($1) GROUP BY 1",
        [sent.map(({ id }) => id)],
      );
      if (rows.length < sent.length && Date.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        continue;
      }
      const found = new Map(rows.map((row) => [row.id, row]));
      const wrong = sent
        .filter(({ id, route }) => found.get(id)?.n !== 1 || found.get(id)?.proxy_type !== route.audit.proxyType)
        .map(({ id, route, status }) => ({ route: nameOf(route), status, rows: found.get(id) ?? "none" }));
      expect(wrong).toEqual([]);
      const untold = sent.filter(
        ({ id, status, fault }) =>
          fault === undefined && status !== "gone" && status < 300 && found.get(id)?.error_type === "internal_error",
      );
      expect(untold.map(({ route }) => nameOf(route))).toEqual([]);
      return;
    }
  } finally {
    await client.end();
  }
});

const all = async (asked: (route: Governed) => Asked, routes: readonly Governed[] = GOVERNED_ROUTES): Promise<void> => {
  for (const route of routes) await ask(route, asked(route));
};
/** An unexpected error; 501 is expected where a route does not support the request. */
const isBroken = ([, status]: readonly [string, number | "gone"]) => status !== "gone" && status >= 500 && status !== 501;
const statuses = () => sent.map(({ route, status }) => [nameOf(route), status] as const);

test("every route leaves one row without a credential", async () => {
  await all(() => ({ credential: "none" }));
  expect(statuses().filter(isBroken)).toEqual([]);
  for (const { route, status } of sent)
    if (!["anyone", "key_or_none"].includes(route.admits ?? "group")) expect([nameOf(route), status]).toEqual([nameOf(route), 401]);
});

test("every route leaves one row with an unknown credential", async () => {
  await all(() => ({ credential: "unknown" }));
  for (const { route, status } of sent) if (route.admits !== "anyone") expect([nameOf(route), status]).toEqual([nameOf(route), 401]);
});

const withBody = GOVERNED_ROUTES.filter(({ body }) => body !== false);
/** Bodies that are read as a stream have a limit of their own. */
const readWhole = withBody.filter(({ body }) => body !== "streamed");

test("every route leaves one row with an invalid body", async () => {
  for (const body of ["not json", "[]", '{"no_such_field":1}', "\u0000"]) await all(() => ({ body }), withBody);
  expect(statuses().filter(isBroken)).toEqual([]);
});

test("every route leaves one row with a body that is too large", async () => {
  const body = `{"text":"${"x".repeat(MAX_BODY_MB * 1024 * 1024)}"}`;
  await all(() => ({ body }), readWhole);
  expect(statuses().filter(([, status]) => status !== 413)).toEqual([]);
});

test("every route leaves one row with unknown names", async () => {
  await all((route) => ({
    path: pathOf(route)
      .replaceAll(names.toolServer, crypto.randomUUID())
      .replaceAll(names.virtualServer, crypto.randomUUID())
      .replaceAll("fake-1", "not-there"),
  }));
  expect(statuses().filter(isBroken)).toEqual([]);
});

/** Variants of `value`: in each, one string at any depth is replaced with `put`, or one object has a member named `put` added. */
function* withText(value: unknown, put: string): Generator<unknown> {
  if (typeof value === "string") yield put;
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value))
    for (const other of withText(member, put))
      yield Array.isArray(value) ? value.map((one, at) => (String(at) === name ? other : one)) : { ...value, [name]: other };
  if (!Array.isArray(value)) yield { ...value, [put]: put };
}

test("every route leaves one row with NUL characters and lone surrogates", async () => {
  for (const route of GOVERNED_ROUTES) {
    const path = pathOf(route);
    await ask(route, { path: `${path}${path.includes("?") ? "&" : "?"}a%00b=a%00b` });
    for (const [name, , pattern = ".+"] of route.path.matchAll(/(?<=\/):(\w+)(?:\{([^}]*)\})?/g)) {
      const named = route.path.replace(name, pattern.replace(/\[\^\/\]\+|\.\+/, "a%00b"));
      await ask(route, { path: pathOf({ ...route, path: named }) });
    }
    const bodies = [WELL_FORMED[nameOf(route)]?.body, FURTHER_BODIES[nameOf(route)]];
    for (const put of ["a\0b", "\ud800"])
      for (const body of bodies.flatMap((one) => [...withText(one, put)])) await ask(route, { body: JSON.stringify(body) });
  }
  expect(statuses().filter(isBroken)).toEqual([]);
});

for (const fault of FAULTS) {
  test(`every route leaves one row with an error ${fault}`, async () => {
    logged.length = 0;
    await all(() => ({ headers: { [FAULT]: fault } }));
    if (fault !== "in a stream") expect(logged.length).toBe(GOVERNED_ROUTES.length);
    if (fault.includes("stream") || fault.includes("counting")) return;
    expect(statuses().filter(([, status]) => status !== 500)).toEqual([]);
  });
}

test("every route leaves one row when the caller disconnects", async () => {
  await Promise.all(GOVERNED_ROUTES.map((route) => ask(route, { headers: { [FAULT]: "never answers" }, hangUp: true })));
});

const listed = GOVERNED_ROUTES.filter(({ audit }) => audit.proxyType !== "portal" && audit.proxyType !== "oauth");

test("the table has a well-formed request for every route", () => {
  expect(listed.map(nameOf).filter((name) => !(name in WELL_FORMED))).toEqual([]);
});

async function wellFormed(model: string, rest: object, routes: readonly Governed[]): Promise<void> {
  for (const route of routes) {
    const { body } = WELL_FORMED[nameOf(route)] as WellFormed;
    const inBody = body !== undefined && "model" in body;
    await ask(route, {
      path: pathOf(route).replaceAll("fake-1", model),
      body: body === undefined ? null : JSON.stringify(inBody ? { ...body, ...rest } : body).replaceAll("fake-1", model),
    });
  }
}

test("every route leaves one row with a well-formed request", async () => {
  await wellFormed("fake-1", {}, listed);
  expect(statuses()).toEqual(listed.map((route) => [nameOf(route), WELL_FORMED[nameOf(route)]?.ok as number]));
  sent.length = 0;
  await all(
    () => ({}),
    GOVERNED_ROUTES.filter((route) => !listed.includes(route)),
  );
  expect(statuses().filter(isBroken)).toEqual([]);
});

const models = listed.filter((route) => WELL_FORMED[nameOf(route)]?.upstream);

test.each([
  ["refuses the request", "bad-request"],
  ["fails", "broken"],
])("every model route leaves one row when the upstream %s", async (_what, model) => {
  await wellFormed(model, {}, models);
  expect(statuses().filter(([, status]) => Number(status) < 400)).toEqual([]);
});

test("every model route leaves one row when the upstream breaks off in mid-stream", async () => {
  const streams = models.filter(({ path }) => !path.includes(":generateContent"));
  await wellFormed("short", { stream: true }, streams);
  expect(sent).toHaveLength(streams.length);
});
