import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { documentedRoutes } from "../../../server/runtime-document.ts";
import { GOVERNED_ROUTES, OPEN_ROUTES } from "../../../server/routes.ts";
import { rowsOf, serveModels, type Served } from "../../support/worlds/admin.ts";
import { startWorld, type World } from "../../support/world.ts";

/** A strictly typed client generated from each served document compiles and runs against its plane, without a cast. */

const TESTS = fileURLToPath(new URL("../../", import.meta.url));
const require = createRequire(join(TESTS, "package.json"));

let world: World;
let served: Served;
let folder: string;

beforeAll(async () => {
  world = await startWorld();
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1"]);
  // Next to the tests, so that their packages are found.
  folder = mkdtempSync(join(TESTS, "strict-client-"));
  cpSync(join(TESTS, "strict-client"), folder, { recursive: true });
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await world.end();
});

async function run(command: string[]): Promise<string> {
  const child = Bun.spawn(command, { cwd: folder, stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
  return child.exitCode === 0 ? "" : out + err;
}

const tool = (name: string, path: string) => join(dirname(require.resolve(`${name}/package.json`)), path);

async function typesOf(plane: "runtime" | "control", origin: string): Promise<void> {
  const answer = await fetch(`${origin}/openapi.json`);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, expect.stringContaining("application/json")]);
  writeFileSync(join(folder, `${plane}.json`), await answer.text());
  const made = await run(["node", tool("openapi-typescript", "bin/cli.js"), `${plane}.json`, "-o", `${plane}-types.d.ts`]);
  expect(made).toBe("");
}

test("strictly typed clients generated from the API documents compile, and find the fields they read", async () => {
  await typesOf("runtime", world.gateway.runtimeUrl);
  await typesOf("control", world.gateway.adminUrl);
  expect(await run(["node", tool("typescript", "bin/tsc"), "-p", "."])).toBe("");

  const { useRuntime } = await import(join(folder, "runtime.ts"));
  const { useControl } = await import(join(folder, "control.ts"));
  const { runtimeUrl, adminUrl } = world.gateway;
  expect(await useRuntime({ runtimeUrl, apiKey: served.apiKey, username: "strict", password: "a long enough password" })).toEqual({
    model: "fake-1",
    chat: expect.stringMatching(/./),
    message: expect.stringMatching(/./),
    gemini: expect.stringMatching(/./),
    response: 1,
    refusal: expect.stringContaining("no such model"),
    username: "strict",
    unread: 0,
    approvals: 0,
    health: "ok",
  });
  const calls = await rowsOf(world.admin, { proxy_type: "llm" }, 6);
  expect(await useControl({ adminUrl, token: world.admin.token, groupId: served.groupId })).toEqual({
    group: "strict",
    limits: expect.any(Number),
    calls: calls.length,
    failed: 1,
    code: "conflict",
    existing: "the first",
  });
});

test("every route of the runtime plane is in its API document", () => {
  const said = documentedRoutes().map(({ method, path }) => `${method} ${path}`);
  // Documented together, under the path for any tool server.
  const ofOwnServers = GOVERNED_ROUTES.filter(({ path }) => path.includes("{system-")).length;
  expect(said.length).toBe(GOVERNED_ROUTES.length - ofOwnServers + OPEN_ROUTES.length);
  expect(new Set(said).size).toBe(said.length);
});
