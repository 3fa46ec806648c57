import { createServer, type Socket } from "node:net";

/** What the upstream does with a connection once the request is complete. Everything is written unchanged. */
export interface RawAnswer {
  /** The head's lines; null writes none. */
  readonly head: string | null;
  readonly pieces: readonly (Uint8Array | Promise<Uint8Array>)[];
  /** `end` closes normally, `tear` resets the connection, `hold` leaves it open without sending more. */
  readonly ending: "end" | "tear" | "hold";
}

export interface RawUpstream {
  readonly origin: string;
  stop(): Promise<void>;
}

/** An upstream on raw TCP that can break every rule of HTTP. `answer` receives the request's path and body. */
export async function startRawUpstream(answer: (path: string, body: string) => RawAnswer): Promise<RawUpstream> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let received = Buffer.alloc(0);
    let answered = false;
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (piece) => {
      received = Buffer.concat([received, piece as Uint8Array]);
      const at = received.indexOf("\r\n\r\n");
      if (at < 0 || answered) return;
      const head = received.subarray(0, at).toString("latin1");
      const length = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      if (received.byteLength < at + 4 + length) return;
      answered = true;
      void write(socket, answer(head.split(" ")[1] ?? "", received.subarray(at + 4, at + 4 + length).toString("utf8")));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    origin: `http://127.0.0.1:${port}`,
    stop() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function write(socket: Socket, { head, pieces, ending }: RawAnswer): Promise<void> {
  if (head !== null) await sent(socket, Buffer.from(head, "latin1"));
  for (const piece of pieces) await sent(socket, await piece);
  if (ending === "end") socket.end();
  else if (ending === "tear") socket.resetAndDestroy();
}

function sent(socket: Socket, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.write(bytes, () => resolve());
  });
}
