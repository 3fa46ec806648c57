import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { PATIENCE_MS } from "../../tests/support/patience.ts";
import { type RawUpstream, startRawUpstream } from "../../tests/support/vendors/raw-upstream.ts";
import { isUnreadable, outbound } from "./outbound.ts";

type Reader = ReadableStreamDefaultReader<Uint8Array>;

let upstream: RawUpstream;
const head = (status: string) => `HTTP/1.1 ${status}\r\ncontent-encoding: gzip\r\ncontent-length: 7\r\nconnection: close\r\n\r\ngarbage`;

beforeAll(async () => {
  upstream = await startRawUpstream((path) => ({ head: head(path.slice(1)), pieces: [], ending: "end" }));
});
afterAll(() => upstream.stop());

/** A process of its own, because an event of an error that nobody listens to ends the process. */
const PROGRAM = `
  import { createServer } from "node:net";
  const { outbound } = await import(${JSON.stringify(new URL("outbound.ts", import.meta.url).href)});
  const server = createServer((socket) => socket.on("error", () => {}).once("data", () => socket.write(${JSON.stringify(head("200 OK"))})));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const ask = () => outbound({ allowPrivate: true }).fetch("http://127.0.0.1:" + server.address().port, { method: "GET", headers: {}, abort: new AbortController(), timeoutMs: 5_000 });
  const [late, unread] = [await ask(), await ask()];
  // Those that are asked later fail later.
  for (let turn = 0; turn < 10; turn++) await (await ask()).text().catch(() => {});
  console.log(await late.text().catch((error) => error.code), unread.status);
  process.exit(0);
`;

test("a body that cannot be decompressed fails whoever reads it, and nothing else if it is read late or never", () => {
  const { stdout, stderr, status } = spawnSync(process.execPath, ["-e", PROGRAM], { encoding: "utf8", timeout: PATIENCE_MS });
  expect({ stdout, stderr, status }).toEqual({ stdout: "Z_DATA_ERROR 200\n", stderr: "", status: 0 });
});

test.each(["099", "600", "999"])("an answer with the status %s, which HTTP does not have, cannot be read", async (status) => {
  const init = { method: "GET", headers: {}, abort: new AbortController(), timeoutMs: PATIENCE_MS };
  const asked = outbound({ allowPrivate: true }).fetch(`${upstream.origin}/${status}`, init);
  const error = await asked.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect([isUnreadable(error), (error as Error).message]).toEqual([true, `the status ${Number(status)} is not one of HTTP`]);
});

test.each([
  ["cannot be decompressed", Buffer.from("garbage"), (reader: Reader) => reader.read().catch(() => null)],
  ["is not wanted any more", gzipSync("x"), (reader: Reader) => reader.read().then(() => reader.cancel())],
])("the connection of an answer that %s is closed, although the other side keeps it open", async (_, body, read) => {
  const server = createServer((socket) => {
    socket
      .on("error", () => undefined)
      .once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 9999\r\n\r\n");
        socket.write(body);
      });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const connected = once(server, "connection") as Promise<[Socket]>;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const init = { method: "GET", headers: {}, abort: new AbortController(), timeoutMs: PATIENCE_MS };
  const response = await outbound({ allowPrivate: true }).fetch(url, init);
  const [socket] = await connected;
  const closed = new Promise((resolve) => socket.once("close", resolve));
  await read(response.body?.getReader() as Reader);
  await closed;
  server.close();
});
