// A scripted model of OpenAI's Realtime API for the guides, and a client that asks it, without dependencies:
//   node docs/guides/examples/voice.mjs [port]
//   node docs/guides/examples/voice.mjs ask ws://HOST/v1/proxy/llm KEY MODEL TEXT
import { createHash, randomBytes } from "node:crypto";
import { createServer, request } from "node:http";

const [first = "9109", ...rest] = process.argv.slice(2);
if (first === "ask") ask(...rest);
else serve(Number(first));

/** Writes a text frame of RFC 6455; clients mask theirs. */
function frame(event, masked) {
  const text = Buffer.from(JSON.stringify(event));
  const head = text.length < 126 ? Buffer.from([0x81, text.length]) : Buffer.from([0x81, 126, text.length >> 8, text.length & 255]);
  if (!masked) return Buffer.concat([head, text]);
  head[1] |= 128;
  const mask = randomBytes(4);
  return Buffer.concat([head, mask, text.map((byte, at) => byte ^ mask[at % 4])]);
}

/** Calls `told` with each event that arrives in text frames of up to 64 KiB. */
function listen(socket, head, told) {
  let held = Buffer.from(head);
  const read = () => {
    while (held.length >= 2) {
      const isLong = (held[1] & 127) === 126;
      const mask = held[1] & 128 ? 4 : 0;
      const start = 2 + (isLong ? 2 : 0) + mask;
      const length = isLong ? held.readUInt16BE(2) : held[1] & 127;
      if (held.length < start + length) return;
      const key = held.subarray(start - mask, start);
      const text = held.subarray(start, start + length).map((byte, at) => (mask ? byte ^ key[at % 4] : byte));
      const isText = (held[0] & 15) === 1;
      held = held.subarray(start + length);
      if (isText) told(JSON.parse(Buffer.from(text).toString()));
    }
  };
  socket.on("data", (data) => {
    held = Buffer.concat([held, data]);
    read();
  });
  read();
}

function serve(port) {
  const server = createServer();
  server.on("upgrade", (asked, socket, head) => {
    const accept = createHash("sha1").update(`${asked.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    const send = (event) => socket.write(frame(event, false));
    send({ type: "session.created", session: { type: "realtime", id: "sess_1" } });
    let heard = "nothing";
    listen(socket, head, (event) => {
      if (event.type === "conversation.item.create") heard = event.item.content[0].text;
      if (event.type !== "response.create") return;
      const [id, text] = [`resp_${Date.now()}`, `You said: ${heard}`];
      const usage = { input_tokens: 20, output_tokens: 5, total_tokens: 25 };
      const part = { response_id: id, item_id: "item_1", output_index: 0, content_index: 0 };
      send({ type: "response.created", response: { id, status: "in_progress", output: [] } });
      send({ type: "response.output_text.delta", ...part, delta: text });
      send({ type: "response.output_text.done", ...part, text });
      send({ type: "response.done", response: { id, status: "completed", output: [], usage } });
    });
    socket.on("error", () => socket.destroy());
  });
  server.listen(port, "127.0.0.1");
}

function ask(url, key, model, text) {
  const headers = {
    ...{ connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" },
    ...{ "sec-websocket-key": randomBytes(16).toString("base64"), authorization: `Bearer ${key}` },
  };
  const asked = request(`${url.replace(/^ws/, "http")}/realtime?model=${model}`, { headers });
  asked.on("response", (refused) => refused.pipe(process.stdout));
  asked.on("upgrade", (_response, socket, head) => {
    const item = { type: "message", role: "user", content: [{ type: "input_text", text }] };
    socket.write(frame({ type: "conversation.item.create", item }, true));
    socket.write(frame({ type: "response.create" }, true));
    listen(socket, head, (event) => {
      if (event.type === "response.output_text.done") process.stdout.write(`${event.type}: ${event.text}\n`);
      if (event.type === "error") process.stdout.write(`${event.type}: ${event.error.code}\n`);
      if (event.type === "response.done" || event.type === "error") socket.end();
    });
  });
  asked.end();
}
