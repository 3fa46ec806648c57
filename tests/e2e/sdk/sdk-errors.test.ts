import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CLIENTS, PROVIDERS } from "../../support/vendors/matrix.ts";
import { type Clients, FAULTS, startSdkWorld, type SdkWorld } from "../../support/vendors/sdk-world.ts";

/** In every official client, a failure raises an error of the client's own class with the right status. */
let world: SdkWorld;
let stranger: Clients;

beforeAll(async () => {
  world = await startSdkWorld();
  stranger = world.clientsOf(`sk_gw_api_${"x".repeat(43)}`);
});

afterAll(() => world.end());

/**
 * Failures the caller can do nothing about are the gateway's 502. An overloaded vendor is one, but Anthropic's clients have a status of
 * their own for it.
 */
const STATUS_SEEN = { 400: 400, 429: 429, 500: 502, 503: 503, 529: 503 } as const;
const seenBy = (client: string, status: (typeof FAULTS)[number]) =>
  status === 529 && client.includes("anthropic") ? 529 : STATUS_SEEN[status];
const failing = PROVIDERS.filter(({ apiFormat }) => apiFormat !== "echo").flatMap(({ id }) =>
  FAULTS.map((status) => [id, status] as const),
);

describe.each(CLIENTS.map(({ id }) => id))("%s", (client) => {
  const statusOfFailure = async (clients: Clients, model: string, stream: boolean) => {
    const sdk = clients.sdks[client];
    return sdk.ask(model, "text", stream).then(
      () => "an answer",
      (error: unknown) => sdk.statusOf(error) ?? error,
    );
  };

  test.each([false, true])("raises its own error for a wrong key (streamed: %p)", async (stream) => {
    expect(await statusOfFailure(stranger, "sdk-openai", stream)).toBe(401);
  });

  test.each([false, true])("raises its own error for an unknown model (streamed: %p)", async (stream) => {
    expect(await statusOfFailure(world.clients, "no-such-model", stream)).toBe(404);
  });

  test.each(failing)("raises its own error when %s answers %i", async (provider, status) => {
    const model = `sdk-${provider}-${status}`;
    expect([await statusOfFailure(world.clients, model, false), await statusOfFailure(world.clients, model, true)]).toEqual([
      seenBy(client, status),
      seenBy(client, status),
    ]);
  });
});
