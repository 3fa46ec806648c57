import { expect, test } from "bun:test";
import { connect, createServer } from "node:net";
import { testDatabase } from "../../tests/support/database.ts";
import { until } from "../../tests/support/until.ts";
import { jsonLog, type Log } from "../kernel/log.ts";
import { openDatabase } from "./database.ts";

test.each([
  ["postgres://gatehouse:hunter2@db.example:5433/audit?sslmode=verify-full", "postgres://db.example:5433/audit"],
  ["postgresql://gatehouse:hunter2@db.example/audit", "postgres://db.example:5432/audit"],
  [
    "postgres://gatehouse:hunter2@/audit?host=/cloudsql/project:region:instance",
    "PostgreSQL database audit on the socket in /cloudsql/project:region:instance",
  ],
  ["postgres:///audit?host=/run/postgresql&user=gatehouse&password=hunter2", "PostgreSQL database audit on the socket in /run/postgresql"],
])("%s is said without user and password", async (url, place) => {
  const connection = openDatabase(url, { log: jsonLog("error") });
  expect(connection.place).toBe(place);
  await connection.close();
});

/** "X" and a length: a client's last message. */
const TERMINATE = Buffer.from("X\0\0\0\x04", "latin1");
const FIELDS = "SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0";
const STOPPING = Buffer.from(`E\0\0\0${String.fromCharCode(4 + FIELDS.length)}${FIELDS}`, "latin1");

test("a connection that a stopping server ends is a loss, unless it is being closed", async () => {
  const database = await testDatabase({ likeOthers: false });
  const to = new URL(database.url);
  const sockets = new Set<ReturnType<typeof connect>>();
  let goodbyes = 0;
  // A server that stops tells every client, also one that has just said goodbye.
  const server = createServer((client) => {
    const directory = to.searchParams.get("host");
    const upstream = directory === null ? connect(Number(to.port), to.hostname) : connect(`${directory}/.s.PGSQL.${to.port || 5432}`);
    sockets.add(client);
    client.on("data", (piece: Buffer) => {
      if (piece.equals(TERMINATE)) {
        goodbyes++;
        client.end(STOPPING);
      } else upstream.write(piece);
    });
    upstream.on("data", (piece: Buffer) => void client.write(piece));
    for (const [one, other] of [[client, upstream] as const, [upstream, client] as const])
      one.on("error", () => undefined).on("close", () => other.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(database.url);
  url.searchParams.delete("host");
  url.host = `127.0.0.1:${(server.address() as { port: number }).port}`;
  const said: string[] = [];
  const say = (level: string) => (event: string) => void said.push(`${level} ${event}`);
  const log = { debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error") } as unknown as Log;
  const connection = openDatabase(url.href, { log });
  const ask = () => connection.db.selectFrom("tenants").select("id").execute();

  await ask();
  for (const socket of sockets) socket.write(STOPPING);
  await until(
    async () => said,
    (all) => all.includes("warn database_connection_lost"),
  );
  await ask();
  said.length = 0;
  await connection.close();
  await until(
    async () => goodbyes,
    (count) => count > 0,
  );
  await Promise.all([...sockets].map((socket) => socket.closed || new Promise((resolve) => socket.once("close", resolve))));
  server.close();
  await database.close();
  expect(said.filter((line) => !line.startsWith("debug"))).toEqual([]);
});
