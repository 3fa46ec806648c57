import { afterAll, beforeAll, expect, test } from "bun:test";
import { createServer, type Server, type Socket } from "node:net";
import { openValkey } from "./valkey.ts";

/** A server that answers one command at a time, when told to. */
let server: Server;
let socket: Socket | null = null;
let url = "";
const waiting: number[] = [];

beforeAll(async () => {
  server = createServer((client) => {
    socket = client;
    client.on("error", () => undefined);
    client.on("data", (data) => {
      for (const command of data.toString().match(/\r\n(HELLO|PING|CLIENT|EVALSHA)\r\n/gi) ?? []) {
        const name = command.trim().toUpperCase();
        if (name === "EVALSHA") waiting.push(1);
        else client.write(name === "HELLO" ? "%1\r\n$6\r\nserver\r\n$6\r\nvalkey\r\n" : "+OK\r\n");
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `redis://127.0.0.1:${(server.address() as { port: number }).port}`;
});
afterAll(() => {
  socket?.destroy();
  server.close();
});

test("a busy Valkey that keeps answering is waited for; without an answer in time the command fails", async () => {
  const valkey = openValkey(url);
  const answers = Array.from({ length: 10 }, (_, i) =>
    valkey.run("return 1", [`k${i}`], []).then(
      () => "answered",
      (error: Error) => error.message,
    ),
  );
  const began = performance.now();
  // Each answer comes within the limit after the previous one, the last of them long after its command was sent.
  for (let i = 0; i < 9; i++) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    socket?.write(":1\r\n");
  }
  expect(await Promise.all(answers.slice(0, 9))).toEqual(Array(9).fill("answered"));
  expect(performance.now() - began).toBeGreaterThan(2_500);
  expect(await answers[9]).toContain("did not answer within 2000 ms");
  valkey.close();
});

/** A server whose connections each answer a script with what `answer` returns; never if null. */
async function startAnswering(answer: (connection: number) => string | null) {
  let connections = 0;
  const sockets = new Set<Socket>();
  const own = createServer((client) => {
    const number = ++connections;
    sockets.add(client);
    client.on("error", () => undefined);
    client.on("data", (data) => {
      for (const command of data.toString().match(/\r\n(HELLO|PING|CLIENT|EVALSHA|EVAL)\r\n/gi) ?? []) {
        const name = command.trim().toUpperCase();
        const said = name.startsWith("EVAL") ? answer(number) : name === "HELLO" ? "%1\r\n$6\r\nserver\r\n$6\r\nvalkey\r\n" : "+OK\r\n";
        if (said !== null) client.write(said);
      }
    });
  });
  await new Promise<void>((resolve) => own.listen(0, "127.0.0.1", resolve));
  return {
    url: `redis://127.0.0.1:${(own.address() as { port: number }).port}`,
    connections: () => connections,
    stop() {
      for (const one of sockets) one.destroy();
      own.close();
    },
  };
}

test("after a command without an answer, the next one uses a new connection", async () => {
  const answering = await startAnswering((connection) => (connection === 1 ? null : ":7\r\n"));
  const valkey = openValkey(answering.url);
  expect(await valkey.run("return 7", ["k"], []).catch((error: Error) => error.message)).toContain("did not answer");
  expect(await valkey.run("return 7", ["k"], [])).toBe(7);
  expect(answering.connections()).toBe(2);
  valkey.close();
  answering.stop();
});

test("after a READONLY error from a replica, the next command uses a new connection", async () => {
  const answering = await startAnswering((connection) =>
    connection === 1 ? "-READONLY You can't write against a read only replica.\r\n" : ":7\r\n",
  );
  const valkey = openValkey(answering.url);
  expect(await valkey.run("return 7", ["k"], []).catch((error: Error) => error.message)).toContain("READONLY");
  expect(await valkey.run("return 7", ["k"], [])).toBe(7);
  valkey.close();
  answering.stop();
});
