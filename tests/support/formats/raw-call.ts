import { connect } from "node:net";

export interface RawReply {
  /** 0 if the connection broke. */
  readonly status: number;
  readonly headers: string;
  readonly body: string;
}

/** One POST on its own connection, so that thousands of calls really arrive at once; pooling clients would queue them. */
export function rawPost(url: string, headers: Record<string, string>, body: string): Promise<RawReply> {
  const { hostname, port, pathname } = new URL(url);
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(Number(port), hostname, () => {
      const lines = Object.entries({
        host: `${hostname}:${port}`,
        connection: "close",
        "content-type": "application/json",
        "content-length": String(Buffer.byteLength(body)),
        ...headers,
      }).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`POST ${pathname} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
    });
    const end = () => {
      const at = text.indexOf("\r\n\r\n");
      resolve(
        at < 0
          ? { status: 0, headers: "", body: "" }
          : { status: Number(text.slice(9, 12)), headers: text.slice(0, at).toLowerCase(), body: text.slice(at + 4) },
      );
    };
    socket.setEncoding("utf8");
    socket.on("data", (piece: string) => {
      text += piece;
    });
    socket.on("error", () => undefined);
    socket.on("close", end);
  });
}
