import { afterAll, afterEach, expect, spyOn, test } from "bun:test";
import type { LiveFeed } from "../../directory/people/portal/live-feed.ts";
import type { Call } from "../../road/call.ts";
import type { StreamAnswer } from "../../road/answer.ts";
import { isRefusal } from "../../kernel/errors.ts";
import { eventRoutes } from "./events.ts";
import type { PortalServices } from "./portal-services.ts";

type Follower = Parameters<LiveFeed["follow"]>[0];

const USER = { id: "u", tenant_id: "t", is_active: true, tokens_valid_from: new Date(0) };
const beats = spyOn(globalThis, "setInterval");
const cleared = spyOn(globalThis, "clearInterval");

afterEach(() => {
  beats.mockClear();
  cleared.mockClear();
});
afterAll(() => {
  beats.mockRestore();
  cleared.mockRestore();
});

/** An open event stream of a user; `find` looks the user up at each heartbeat and event, `tenant` is their tenant. */
async function opened(
  find: () => Promise<typeof USER>,
  follow: (follower: Follower) => () => void,
  tenant = { enabled: true },
): Promise<StreamAnswer["upstream"]> {
  const portal = {
    feed: { follow },
    users: { find },
    snapshots: { tenant: async () => tenant },
    directory: { clock: { now: () => 1 } },
  } as unknown as PortalServices;
  const call = {
    path: "/v1/portal/events",
    url: "http://gateway/v1/portal/events",
    user: USER,
    token: { tenantId: "t", userId: "u", issuedAt: 1, expiresAt: 2 },
    row: {},
  } as unknown as Call;
  const exchange = eventRoutes[0]?.surface({ portal }).read(call, null);
  if (exchange === undefined || exchange instanceof Promise || isRefusal(exchange)) throw new Error("the stream was refused");
  return ((await exchange.answer(call)) as StreamAnswer).upstream;
}

const read = async (reader: StreamAnswer["upstream"]) => new TextDecoder().decode((await reader.read()).value);

test("a portal that disconnects during the check of its access causes no unhandled rejection", async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => void unhandled.push(error);
  process.on("unhandledRejection", note);
  const lookup = Promise.withResolvers<typeof USER>();
  const reader = await opened(
    () => lookup.promise,
    () => () => undefined,
  );
  expect(await read(reader)).toBe("event: ready\ndata: {}\n\n");
  const [beat] = beats.mock.calls[0] as [() => void];
  beat();
  await reader.cancel();
  lookup.resolve(USER);
  await new Promise(setImmediate);
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

test("a portal that connects while the feed stops gets the end of the stream, and leaves nothing behind", async () => {
  let left = 0;
  const reader = await opened(
    async () => USER,
    (follower) => {
      follower.end();
      return () => void left++;
    },
  );
  expect([await read(reader), (await reader.read()).done]).toEqual(["event: ready\ndata: {}\n\n", true]);
  expect([left, beats.mock.calls.length, cleared.mock.calls.length]).toEqual([1, 1, 1]);
  expect(cleared.mock.calls[0]?.[0] === beats.mock.results[0]?.value).toBe(true);
});

const LEFT: [who: string, change: (user: { is_active: boolean; tokens_valid_from: Date }, tenant: { enabled: boolean }) => void][] = [
  ["a disabled person", (user) => (user.is_active = false)],
  ["a revoked token", (user) => (user.tokens_valid_from = new Date(2))],
  ["a disabled tenant", (_user, tenant) => (tenant.enabled = false)],
];

test.each(LEFT)("the event stream of %s ends at the next event, without sending it", async (_who, change) => {
  const user = { ...USER };
  const tenant = { enabled: true };
  let send: Follower["tell"] = () => undefined;
  const reader = await opened(
    async () => user,
    (follower) => ((send = follower.tell), () => undefined),
    tenant,
  );
  await read(reader);
  send({ name: "approval", data: { id: "first" } });
  expect(await read(reader)).toContain('"first"');
  change(user, tenant);
  send({ name: "approval", data: { id: "second" } });
  expect((await reader.read()).done).toBe(true);
});
