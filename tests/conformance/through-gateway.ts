import { grant, newTeam } from "../e2e/tools/mcp-harness.ts";
import type { World } from "../support/world.ts";
import { handshakeFixture } from "./handshake-fixture.ts";
import { statelessFixture } from "./stateless-fixture.ts";

export type ServerDialect = "handshake" | "stateless";

/** The fixtures' addresses behind the gateway, callable without a credential. */
export interface Governed extends Readonly<Record<ServerDialect, string>> {
  /** The fixtures' own addresses. */
  readonly direct: Readonly<Record<ServerDialect, string>>;
  stop(): Promise<void>;
}

/** The suite sends no credential, so each server gets a forwarder that adds one and changes nothing else. */
export async function governedFixtures(world: World): Promise<Governed> {
  const fixtures = { handshake: handshakeFixture(), stateless: statelessFixture() };
  const team = await newTeam(world.admin, "conformance");
  const serving: { stop(closeActiveConnections?: boolean): Promise<void> }[] = [];
  const urls: Record<string, string> = {};
  const direct: Record<string, string> = {};
  for (const [name, fixture] of Object.entries(fixtures)) {
    const upstream = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, fetch: (request) => fixture.fetch(request) });
    const { id } = await world.admin.post("/v1/admin/mcp-servers", {
      tenant_id: "default",
      name,
      base_url: `http://127.0.0.1:${upstream.port}`,
    });
    await grant(world.admin, name, id, [team.groupId]);
    const forwarder = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      idleTimeout: 0,
      async fetch(request) {
        const headers = new Headers(request.headers);
        headers.set("x-api-key", team.apiKey);
        const body = request.method === "POST" ? await request.text() : undefined;
        return fetch(`${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`, {
          method: request.method,
          headers,
          signal: request.signal,
          ...(body === undefined ? {} : { body }),
        });
      },
    });
    direct[name] = `http://127.0.0.1:${upstream.port}/mcp`;
    urls[name] = `http://127.0.0.1:${forwarder.port}/mcp`;
    serving.push(forwarder, upstream);
  }
  return {
    handshake: urls.handshake as string,
    stateless: urls.stateless as string,
    direct: direct as Record<ServerDialect, string>,
    async stop() {
      await Promise.all(serving.map((server) => server.stop(true)));
    },
  };
}
