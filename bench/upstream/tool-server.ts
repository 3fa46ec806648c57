import type { ToolServerAnswer } from "../cases/case.ts";

/** The request's ID, anywhere in the message; nothing earlier in the cases' requests looks like it. */
const ID = /"id":("[^"]*"|\d+)/;
const METHOD = /"method":"([^"]*)"/;
const SESSION = "bench-session";

function answer(status: string, headers: string, body: string): Buffer {
  return Buffer.from(
    `HTTP/1.1 ${status}\r\n${headers}Date: Thu, 01 Jan 2026 00:00:00 GMT\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/** A minimal tool server: it parses nothing, and everything after the ID is prepared. */
export function toolServerAnswers({ dialect, results }: ToolServerAnswer): (body: () => string) => readonly Buffer[] {
  const accepted = [answer("202 Accepted", "", "")];
  const json = "Content-Type: application/json\r\n";
  return (read) => {
    const body = read();
    const id = ID.exec(body)?.[1];
    if (id === undefined) return accepted;
    const method = METHOD.exec(body)?.[1] ?? "";
    const result = results[method];
    if (result === undefined)
      return [answer("200 OK", json, `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"no such method"}}`)];
    const session = dialect === "handshake" && method === "initialize" ? `Mcp-Session-Id: ${SESSION}\r\n` : "";
    return [answer("200 OK", json + session, `{"jsonrpc":"2.0","id":${id},"result":${result}}`)];
  };
}
