import type { Socket } from "bun";
import type { UpstreamAnswer } from "../cases/case.ts";
import { MessageReader } from "../wire/message-reader.ts";
import type { UpstreamReport, UpstreamRequest } from "./protocol.ts";
import { toolServerAnswers } from "./tool-server.ts";

/** The fake provider: a separate process that answers every POST with prepared bytes. */

interface Connection {
  readonly reader: MessageReader;
  /** What the socket has not accepted yet. */
  unsent: Buffer[];
}

const EMPTY_LIST = [
  Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 27\r\n\r\n{"object":"list","data":[]}'),
];
let answerTo: (body: () => string) => readonly Buffer[] = () => EMPTY_LIST;
let served = 0;

function bytesOf(given: Exclude<UpstreamAnswer, { kind: "tool_server" }>): Buffer[] {
  const common = "x-request-id: req_bench_0f3c1d\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\n";
  if (given.kind === "json") {
    return [
      Buffer.from(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${common}Content-Length: ${Buffer.byteLength(given.body)}\r\n\r\n${given.body}`,
      ),
    ];
  }
  const head = `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n${common}Transfer-Encoding: chunked\r\n\r\n`;
  const chunks = given.frames.map((frame) => `${Buffer.byteLength(frame).toString(16)}\r\n${frame}\r\n`);
  const pieces = [...chunks, "0\r\n\r\n"];
  const writes = Array.from({ length: Math.ceil(pieces.length / given.framesPerWrite) }, (_, index) =>
    pieces.slice(index * given.framesPerWrite, (index + 1) * given.framesPerWrite).join(""),
  );
  return writes.map((text, index) => Buffer.from(index === 0 ? head + text : text));
}

function send(socket: Socket<Connection>, parts: readonly Buffer[]): void {
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] as Buffer;
    const written = socket.write(part);
    if (written < part.length) {
      socket.data.unsent = [part.subarray(Math.max(written, 0)), ...parts.slice(index + 1)];
      return;
    }
  }
  socket.data.unsent = [];
}

const server = Bun.listen<Connection>({
  hostname: "127.0.0.1",
  port: 0,
  socket: {
    open(socket) {
      socket.data = { reader: new MessageReader(() => true), unsent: [] };
      socket.setNoDelay(true);
    },
    data(socket, data) {
      const { reader } = socket.data;
      let at = 0;
      while (at < data.length) {
        at = reader.push(data, at);
        if (!reader.complete) return;
        const isCall = reader.head.startsWith("POST ");
        if (isCall) served++;
        const given = isCall ? answerTo(() => reader.body.toString("utf8", 0, reader.length)) : EMPTY_LIST;
        reader.reset();
        send(socket, given);
      }
    },
    drain(socket) {
      if (socket.data.unsent.length > 0) send(socket, socket.data.unsent);
    },
    error() {},
  },
});

const report = (message: UpstreamReport) => process.send?.(message);

process.on("message", (request: UpstreamRequest) => {
  if (request.answer?.kind === "tool_server") answerTo = toolServerAnswers(request.answer);
  else if (request.answer) {
    const bytes = bytesOf(request.answer);
    answerTo = () => bytes;
  }
  if (request.restart) served = 0;
  report({ served });
});
// The parent process is gone.
process.on("disconnect", () => process.exit(0));
report({ port: server.port, served });
