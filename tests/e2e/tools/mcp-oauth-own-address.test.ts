import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  type AuthorizationServerFixture,
  type ProtectedServerFixture,
  startAuthorizationServer,
  startProtectedServer,
} from "../../support/identity/authorization-server.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, type Team } from "./mcp-harness.ts";

let world: World;
let at: AuthorizationServerFixture;
let server: ProtectedServerFixture;
let broker: string;
let team: Team;

beforeAll(async () => {
  // A gateway that only listens on loopback refuses other hosts from the start.
  world = await startWorld({ GW_HOST: "0.0.0.0", GW_ALLOW_PRIVATE_UPSTREAMS: "on" });
  server = startProtectedServer("stateless", () => at);
  at = await startAuthorizationServer({ resources: () => [`${server.baseUrl}/mcp`] });
  team = await newTeam(world.admin, "team");
  const { id } = await world.admin.post("/v1/admin/mcp-servers", { name: "protected", base_url: server.baseUrl, auth_type: "oauth" });
  await grant(world.admin, "protected", id, [team.groupId]);
  const gateway = `http://127.0.0.1:${new URL(world.gateway.runtimeUrl).port}`;
  const resource: any = await (await fetch(`${gateway}/v1/proxy/mcp/${id}/.well-known/oauth-protected-resource`)).json();
  broker = resource.authorization_servers[0];
});
afterAll(async () => {
  await Promise.all([at.stop(), server.stop()]);
  await world.end();
});

const registrations = () => at.seen.filter(({ path }) => path === "/reg").length;
const connect = (host: string) =>
  fetch(`${broker}/authorize?connect=`, { redirect: "manual", headers: { host, "x-api-key": team.apiKey, accept: "application/json" } });

test("the gateway registers at an issuer for its own hosts only, not for a made-up Host header", async () => {
  const { port } = new URL(broker);
  for (const host of ["evil.example", `evil.example:${port}`, "127.0.0.1:1", "127.0.0.1.evil.example"]) {
    const answer = await connect(host);
    expect([answer.status, await answer.text()]).toEqual([502, expect.stringContaining("GW_PUBLIC_URL")]);
  }
  expect(registrations()).toBe(0);
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) {
    const answer = await connect(host);
    expect(answer.status).toBe(200);
    expect(((await answer.json()) as any).authorize_url).toContain(encodeURIComponent(`http://${host}/`));
  }
  expect(registrations()).toBe(2);
});
