import { connect, type Socket } from "node:net";

/** A request on its own connection whose answer is read as it arrives, or not at all. */
export interface RawStream {
  /** Resolves when the answer contains the text `times` times; rejects if the answer ends first. */
  until(text: string, times?: number): Promise<void>;
  /** Number of occurrences of the text so far. */
  count(text: string): number;
  /** Everything received so far. */
  text(): string;
  /** Stops reading: further data fills the connection's buffers, then the server blocks. */
  stall(): void;
  /** Resumes reading. */
  resume(): void;
  close(): void;
}

const LAST_CHUNK = "\r\n0\r\n\r\n";

const occurrences = (within: string, text: string) => within.split(text).length - 1;

export function rawStream(url: string, method: "GET" | "POST", headers: Record<string, string>, body = ""): RawStream {
  const { hostname, port, pathname } = new URL(url);
  const pieces: string[] = [];
  let ended = false;
  const waiting = new Set<(piece: string) => void>();
  const received = () => {
    if (pieces.length > 1) pieces.splice(0, pieces.length, pieces.join(""));
    return pieces[0] ?? "";
  };
  const socket: Socket = connect(Number(port), hostname, () => {
    const lines = Object.entries({
      host: `${hostname}:${port}`,
      ...(method === "POST" ? { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) } : {}),
      ...headers,
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`${method} ${pathname} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
  });
  socket.setEncoding("utf8");
  socket.on("data", (piece: string) => {
    pieces.push(piece);
    if (piece.endsWith(LAST_CHUNK)) ended = true;
    for (const look of waiting) look(piece);
  });
  socket.on("error", () => undefined);
  socket.on("close", () => {
    ended = true;
    for (const look of waiting) look("");
  });
  return {
    text: received,
    count: (text) => occurrences(received(), text),
    until(text, times = 1) {
      return new Promise((resolve, reject) => {
        let left = times;
        let seen = "";
        const look = (piece: string) => {
          seen += piece;
          left -= occurrences(seen, text);
          // An occurrence may span two pieces; what is kept is too short to contain a whole one that would be counted twice.
          seen = seen.slice(Math.max(0, seen.length - text.length + 1));
          if (left <= 0) resolve();
          else if (ended) reject(new Error(`the answer ended before ${JSON.stringify(text)}: ${received().slice(0, 500)}`));
          else return;
          waiting.delete(look);
        };
        waiting.add(look);
        look(received());
      });
    },
    stall: () => void socket.pause(),
    resume: () => void socket.resume(),
    close: () => void socket.destroy(),
  };
}
