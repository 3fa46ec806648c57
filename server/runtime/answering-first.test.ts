import { afterAll, beforeAll, expect, test } from "bun:test";
import { PATIENCE_MS } from "../../tests/support/patience.ts";
import { startUnansweredAddress, type UnansweredAddress } from "../../tests/support/processes/unanswered-address.ts";
import { AnsweringFirst } from "./answering-first.ts";
import { outbound } from "./outbound.ts";

const DEAD = "127.0.0.2";
const LIVE = "127.0.0.1";

let live: ReturnType<typeof Bun.serve>;
let dead: UnansweredAddress;

beforeAll(async () => {
  live = Bun.serve({ hostname: LIVE, port: 0, fetch: (request) => new Response(new URL(request.url).hostname) });
  dead = await startUnansweredAddress(DEAD, live.port as number);
});
afterAll(async () => {
  dead.stop();
  await live.stop(true);
});

const get = async (client: ReturnType<typeof outbound>, port: number | undefined) =>
  (
    await client.fetch(`http://upstream.invalid:${port}/`, {
      ...{ method: "GET", headers: {}, abort: new AbortController(), timeoutMs: PATIENCE_MS },
    })
  ).text();

test("a host whose first address does not answer is reached at the next", async () => {
  const client = outbound({ allowPrivate: false, resolve: async () => [DEAD, LIVE], isDenied: () => false });
  expect(await get(client, live.port)).toBe("upstream.invalid");
});

test("an address that did not answer is not tried again at once", async () => {
  const answering = new AnsweringFirst();
  const order = () => answering.order([DEAD, LIVE], live.port as number);
  expect(await order()).toEqual([LIVE, DEAD]);
  const later = new Promise((resolve) => setTimeout(resolve, 0, "it was asked again"));
  expect(await Promise.race([order(), later])).toEqual([LIVE, DEAD]);
});

test("hosts with one address, or whose first address answers, need no second connection", async () => {
  const opened: string[] = [];
  const upstream = Bun.listen({
    hostname: LIVE,
    port: 0,
    socket: {
      open: () => void opened.push("open"),
      data(socket) {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
      },
    },
  });
  const places = [[LIVE], [LIVE, DEAD]];
  const client = outbound({ allowPrivate: false, resolve: async () => places[0] as string[], isDenied: () => false });
  await get(client, upstream.port);
  expect(opened.length).toBe(1);
  places.shift();
  await get(client, upstream.port);
  // The first call to several addresses asks for a connection before; later calls do not, because the address has answered.
  expect(opened.length).toBe(3);
  await get(client, upstream.port);
  expect(opened.length).toBe(4);
  upstream.stop(true);
});

test("an address that answered is not asked again for minutes, unless a request to it stays without an answer", async () => {
  let opened = 0;
  const asked = Promise.withResolvers<void>();
  const open = () => {
    opened++;
    asked.resolve();
  };
  const upstream = Bun.listen({ hostname: LIVE, port: 0, socket: { open, data() {} } });
  const clock = { now: 0 };
  const answering = new AnsweringFirst(() => clock.now);
  const order = () => answering.order([LIVE, DEAD], upstream.port);
  answering.answered(LIVE, upstream.port);
  clock.now += 4 * 60_000;
  expect(await order()).toEqual([LIVE, DEAD]);
  clock.now += 20_000;
  await order();
  expect(opened).toBe(0);
  clock.now += 11_000;
  await order();
  await asked.promise;
  expect(opened).toBe(1);
  upstream.stop(true);
});
