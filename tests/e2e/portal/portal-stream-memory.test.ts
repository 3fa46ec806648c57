import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { sql } from "kysely";
import { PortalTokens } from "../../../server/directory/people/portal/portal-tokens.ts";
import { systemClock } from "../../../server/kernel/clock.ts";
import { jsonLog } from "../../../server/kernel/log.ts";
import { type Database, openDatabase } from "../../../server/store/database.ts";
import { cutChannels } from "../../support/database.ts";
import { LONG_TEST_MS } from "../../support/patience.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

/**
 * `TEST_EVENT_STREAMS=10000` tests the full claim; fewer show the cost of one stream. Each takes a file descriptor here and one in the
 * gateway.
 */
const STREAMS = Number(process.env["TEST_EVENT_STREAMS"] ?? 2_000);
const BOUND_MB = 400;
/** What the bound leaves for each of ten thousand streams if a gateway without streams takes 120 MB. */
const STREAM_KB = 28;
const PORTALS_OF_A_PERSON = 10;
const OPENED_AT_ONCE = 50;
const JWT_SECRET = "signs the tokens of these many people";

let world: World;
let connection: { readonly db: Database; close(): Promise<void> };
const sockets: Socket[] = [];

beforeAll(async () => {
  world = await startWorld({ GW_JWT_SECRET: JWT_SECRET });
  connection = openDatabase(world.databaseUrl, { log: jsonLog("error"), max: 2 });
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await connection.close();
  await world.end();
});

/** Creates `count` people with a token each, without hashing passwords. */
async function people(count: number): Promise<string[]> {
  const validFrom = new Date(Date.now() - 60_000);
  const ids = Array.from({ length: count }, () => crypto.randomUUID());
  await sql`INSERT INTO end_users (id, tenant_id, username, password_hash, tokens_valid_from) SELECT id, 'default', id, '-', ${validFrom} FROM unnest(${ids}::uuid[]) AS u (id)`.execute(
    connection.db,
  );
  const tokens = new PortalTokens({ secret: JWT_SECRET, expirySeconds: 3_600, clock: systemClock() });
  return Promise.all(ids.map((id) => tokens.issue({ id, tenant_id: "default", username: id, email: null, tokens_valid_from: validFrom })));
}

/** What a stream has sent so far, and whether it ended. */
interface Heard {
  text: string;
  ended: boolean;
}

function openStream(token: string): Promise<Heard> {
  const { hostname, port } = new URL(world.gateway.runtimeUrl);
  const heard: Heard = { text: "", ended: false };
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) }, () =>
      socket.write(`GET /v1/portal/events HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${token}\r\n\r\n`),
    );
    sockets.push(socket);
    socket.on("error", reject);
    socket.on("end", () => {
      heard.ended = true;
    });
    socket.on("data", (piece) => {
      heard.text += piece.toString("latin1");
      if (heard.text.includes("event: ready")) resolve(heard);
    });
  });
}

async function openStreams(tokens: readonly string[], count: number): Promise<Heard[]> {
  const all: Heard[] = [];
  while (all.length < count) {
    const some = Array.from({ length: Math.min(OPENED_AT_ONCE, count - all.length) }, (_, at) =>
      openStream(tokens[(all.length + at) % tokens.length] as string),
    );
    all.push(...(await Promise.all(some)));
  }
  return all;
}

function residentMegabytes(): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${world.gateway.pid()}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

test(
  "open event streams take little memory, and each gets every broadcast",
  async () => {
    const tokens = await people(Math.ceil(STREAMS / PORTALS_OF_A_PERSON));
    // Warm-up: the first use of anything loads code that stays, which is not a cost of a stream.
    await openStreams(await people(10), 100);
    for (const socket of sockets.splice(0)) socket.destroy();
    const before = residentMegabytes();

    const streams = await openStreams(tokens, STREAMS);
    const opened = residentMegabytes();
    // A gateway that loses its notification connection tells every portal to resync.
    await cutChannels(connection.db);
    await until(() => streams.every(({ text }) => text.includes("event: resync")));
    // Longer than the interval between keep-alives.
    await until(() => streams.every(({ text }) => text.includes(": keep-alive")));
    const told = residentMegabytes();

    // Print the figures when a number of streams was given.
    if (process.env["TEST_EVENT_STREAMS"]) process.stdout.write(`${JSON.stringify({ STREAMS, before, opened, told })}\n`);
    expect(streams.filter(({ ended }) => ended)).toEqual([]);
    expect(Math.max(opened, told)).toBeLessThan(BOUND_MB);
    expect(((Math.max(opened, told) - before) * 1024) / STREAMS).toBeLessThan(STREAM_KB);
  },
  LONG_TEST_MS,
);
