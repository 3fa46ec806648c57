import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { compose, type Gateway } from "../../../server/compose.ts";
import { readConfiguration } from "../../../server/kernel/configuration/configuration.ts";
import { jsonLog } from "../../../server/kernel/log.ts";
import { openLedger } from "../../../server/ledger/ledger.ts";
import { type AdminClient, rowOf, type Served, serveModels, signIn } from "../../support/worlds/admin.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";
import { type FakeUpstream, startFakeUpstream } from "../../support/vendors/fake-upstream.ts";
import { ADMIN_PASSWORD, removeDirectory, temporaryDirectory } from "../../support/gateway.ts";

let database: TestDatabase;
let upstream: FakeUpstream;
let directory: string;
let gateway: Gateway;
let admin: AdminClient;
let served: Served;
/** The answer to a request before the ledger was open. */
let early: Response;
let accepting = true;

beforeAll(async () => {
  const free = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const port = String(free.port);
  await free.stop(true);
  database = await testDatabase();
  upstream = startFakeUpstream();
  directory = await temporaryDirectory();
  const env = {
    DATABASE_URL: database.url,
    GW_DATA_DIR: directory,
    GW_RUNTIME_PORT: port,
    GW_ADMIN_PORT: "0",
    GW_BOOTSTRAP_ADMIN_PASSWORD: ADMIN_PASSWORD,
  };
  gateway = await compose(readConfiguration(env), {}, jsonLog("error"), {
    async openLedger(options) {
      early = await fetch(`http://127.0.0.1:${port}/v1/proxy/llm/models`);
      const ledger = await openLedger(options);
      const hasRoom = ledger.accepting.bind(ledger);
      return Object.assign(ledger, { accepting: (calls?: number) => accepting && hasRoom(calls) });
    },
  });
  admin = await signIn(gateway.adminUrl);
  served = await serveModels(admin, upstream.baseUrl, ["hold"]);
});
afterAll(async () => {
  await upstream.stop();
  await database.close();
  await removeDirectory(directory);
});

async function counted(reason: string): Promise<number> {
  const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  return Number(new RegExp(`^gatehouse_requests_without_row_total\\{reason="${reason}"\\} (\\d+)`, "m").exec(text)?.[1] ?? 0);
}

const ID = /^[0-9A-Z]{26}$/;

/** The number of rows, without those of these queries. Rows arrive in order, so every earlier row is already there. */
async function rows(): Promise<number> {
  const seen = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/models`, { headers: { "x-api-key": served.apiKey } });
  await rowOf(admin, { id: seen.headers.get("x-request-id") });
  return ((await admin.post("/v1/admin/proxy-logs/query", {})).total as number) - ++looks;
}
let looks = 0;

test("a request before the ledger is open gets 503, has an ID and is counted", async () => {
  expect([early.status, await early.json()]).toMatchObject([503, { code: "starting" }]);
  expect([early.headers.get("x-request-id"), await counted("starting")]).toEqual([expect.stringMatching(ID), 1]);
});

test("a call that cannot be recorded gets 503, has an ID, is counted and leaves no row", async () => {
  const before = await rows();
  accepting = false;
  const answer = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/models`, { headers: { "x-api-key": served.apiKey } });
  accepting = true;
  expect([answer.status, answer.headers.get("x-request-id")]).toEqual([503, expect.stringMatching(ID)]);
  expect([await counted("audit_unavailable"), await rows()]).toEqual([1, before]);
});

test("a request to an unknown address or method gets a hint, has an ID, is counted and leaves no row", async () => {
  const before = await rows();
  const ask = async (method: string, url: string) => {
    const answer = await fetch(url, { method, headers: { "x-api-key": served.apiKey } });
    expect(answer.headers.get("x-request-id")).toMatch(ID);
    return [answer.status, answer.headers.get("allow"), ...Object.values((await answer.json()) as object)];
  };
  const nothing = "There is nothing at this address.";
  const runtime = gateway.runtimeUrl ?? "";
  expect(await ask("POST", `${runtime}/v1/chat/completions`)).toEqual([
    404,
    null,
    `${nothing} Did you mean /v1/proxy/llm/chat/completions? The base address of your client has to end in /v1/proxy/llm.`,
    "not_found",
  ]);
  expect(await ask("GET", `${runtime}/wp-login.php`)).toEqual([404, null, nothing, "not_found"]);
  expect(await ask("PUT", `${runtime}/v1/proxy/llm/chat/completions`)).toEqual([
    405,
    "POST",
    "This address does not support this method. It answers POST.",
    "method_not_allowed",
  ]);
  expect(await ask("GET", `${gateway.adminUrl}/v1/admin/resource-group`)).toEqual([
    404,
    null,
    `${nothing} Did you mean /v1/admin/resource-groups?`,
    "not_found",
  ]);
  expect([await counted("not_found"), await counted("method_not_allowed"), await rows()]).toEqual([2, 1, before]);
});

test("a request with two Host headers or an invalid one is refused with 400 on both planes", async () => {
  const several = ["Host: a\r\nHost: b", "Host: a\r\nhost: a", "Host: a/b", "Host:", "Host: a b"];
  const heads = [...several, "Host: a:99999", "Host: %zz", "Host: 999.1.1.1", "Host: [::1]:99999", "Host: [:::::]", "Host: xn--a"];
  for (const url of [gateway.runtimeUrl ?? "", gateway.adminUrl])
    for (const head of heads) expect(await statusOf(url, head)).toBe("HTTP/1.1 400 Bad Request");
  for (const head of ["Host: gateway.example:8080", "Host: [::1]:8080", "Host: 127.0.0.1"])
    expect(await statusOf(gateway.runtimeUrl ?? "", head)).toBe("HTTP/1.1 200 OK");
  expect(await counted("invalid_header")).toBeGreaterThan(0);
});

function statusOf(url: string, head: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(`GET /healthz HTTP/1.1\r\n${head}\r\n\r\n`));
    socket.once("data", (piece) => {
      resolve(String(piece).split("\r\n")[0] ?? "");
      socket.destroy();
    });
  });
}

test("a request whose head arrives while the process drains gets 503, has an ID and is counted", async () => {
  const { hostname, port } = new URL(gateway.runtimeUrl ?? "");
  const begun = connect(Number(port), hostname);
  begun.write("GET /v1/proxy/llm/models HTTP/1.1\r\nhost:");
  const held = await fetch(`${gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": served.apiKey },
    body: JSON.stringify({ model: "hold", stream: true, messages: [{ role: "user", content: "x" }] }),
  });
  const stopped = gateway.stop();
  while (await reachable(hostname, Number(port))) await new Promise((resolve) => setTimeout(resolve, 5));
  const answered = new Promise<string>((resolve) => begun.once("data", (piece) => resolve(String(piece).toLowerCase())));
  begun.write(" x\r\n\r\n");
  const answer = await answered;
  expect(answer).toStartWith("http/1.1 503");
  expect(answer).toMatch(/^x-request-id: [0-9a-z]{26}\r$/m);
  expect(await counted("draining")).toBe(1);
  begun.destroy();
  upstream.release();
  await held.text();
  await stopped;
});

function reachable(hostname: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(port, hostname, () => resolve(true)).on("error", () => resolve(false));
    probe.on("connect", () => probe.destroy());
  });
}
