import { connect, type Socket } from "node:net";

/** One request on a connection of its own whose answer is read as it comes, or not at all. */
export interface RawStream {
  /** Resolves when the answer holds the text `times` times; rejects when the connection ends before. */
  until(text: string, times?: number): Promise<void>;
  /** How often the text stands in what came. */
  count(text: string): number;
  /** Stops reading: what comes fills the buffers of the connection, and then waits. */
  stall(): void;
  close(): void;
}

export function rawStream(url: string, method: "GET" | "POST", headers: Record<string, string>, body = ""): RawStream {
  const { hostname, port, pathname } = new URL(url);
  let received = "";
  let ended = false;
  const waiting = new Set<() => void>();
  const look = () => {
    for (const check of waiting) check();
  };
  const count = (text: string) => received.split(text).length - 1;
  const socket: Socket = connect(Number(port), hostname, () => {
    const lines = Object.entries({ host: `${hostname}:${port}`, ...(method === "POST" ? { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) } : {}), ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`${method} ${pathname} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
  });
  socket.setEncoding("utf8");
  socket.on("data", (piece: string) => {
    received += piece;
    look();
  });
  socket.on("error", () => undefined);
  socket.on("close", () => {
    ended = true;
    look();
  });
  return {
    count,
    until(text, times = 1) {
      return new Promise((resolve, reject) => {
        const check = () => {
          if (count(text) >= times) resolve();
          else if (ended) reject(new Error(`the connection ended before ${JSON.stringify(text)}: ${received.slice(0, 500)}`));
          else return;
          waiting.delete(check);
        };
        waiting.add(check);
        check();
      });
    },
    stall: () => void socket.pause(),
    close: () => void socket.destroy(),
  };
}
