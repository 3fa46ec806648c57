import { createHash } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, test } from "bun:test";
import { OutboundTimeout } from "./outbound.ts";
import { outboundSockets } from "./outbound-socket.ts";

/** Upstreams that break off, flood, or never finish what they began. */
const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((server) => void server.close()));

async function upstream(answer: (socket: Socket, request: string) => void) {
  const connected = Promise.withResolvers<Socket>();
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (data) => answer(socket, data.toString()));
    connected.resolve(socket);
  });
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`, socket: connected.promise };
}

/** Completes the handshake and sends these texts, none longer than 125 bytes; answers nothing after it. */
const saying =
  (...texts: readonly string[]) =>
  (socket: Socket, request: string) => {
    const key = /sec-websocket-key: (.+)\r\n/i.exec(request)?.[1] ?? "";
    const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    for (const text of texts) socket.write(Buffer.concat([Buffer.from([0x81, text.length]), Buffer.from(text)]));
  };

function listener() {
  const heard: (string | null)[] = [];
  const closed = Promise.withResolvers<number>();
  return { heard, ended: closed.promise, message: (text: string | null) => void heard.push(text), drained() {}, closed: closed.resolve };
}

const init = (of: ReturnType<typeof listener>, timeoutMs = 5_000) => ({
  ...{ headers: {}, timeoutMs, listener: of },
  signal: new AbortController().signal,
});

test("a message longer than the bound ends the connection and is not passed on", async () => {
  const { url, socket } = await upstream(saying("short", "longer than ten"));
  const of = listener();
  await outboundSockets({ allowPrivate: true }, { messageLength: 10, closingMs: 5_000 }).open(url, init(of));
  await of.ended;
  expect(of.heard).toEqual(["short"]);
  await once(await socket, "close");
});

test("an upstream that does not finish the closing handshake is cut, and nothing is heard from it any more", async () => {
  const { url, socket } = await upstream(saying());
  const of = listener();
  const opened = await outboundSockets({ allowPrivate: true }, { messageLength: 10, closingMs: 1 }).open(url, init(of));
  const gone = once(await socket, "close");
  opened.close(1000, "");
  (await socket).write(Buffer.concat([Buffer.from([0x81, 4]), Buffer.from("more")]));
  await Promise.all([gone, of.ended]);
  expect(of.heard).toEqual([]);
});

test("a handshake without an end times out and its connection is closed", async () => {
  const { url, socket } = await upstream((one) => void one.write("HTTP/1.1 101 Switching Protocols\r\nX-More: "));
  const of = listener();
  const opening = outboundSockets({ allowPrivate: true }).open(url, init(of, 1));
  expect(await opening.catch((error: unknown) => error)).toBeInstanceOf(OutboundTimeout);
  const one = await socket;
  if (!one.closed) await once(one, "close");
});

test("no compression is offered, so that a message is no longer than what was received", async () => {
  let asked = "";
  const { url } = await upstream((socket, request) => {
    asked = request;
    saying()(socket, request);
  });
  await outboundSockets({ allowPrivate: true }).open(url, init(listener()));
  expect(asked.toLowerCase()).not.toContain("sec-websocket-extensions");
});
