import { createServer, type AddressInfo, type Socket } from "node:net";

/** The server's behavior: accepts mail, refuses the login or the recipient, or stops responding before its greeting or after the mail. */
export type MailBehaviour = "takes" | "refuses_login" | "refuses_receiver" | "silent" | "silent_after_mail";

export interface TakenMail {
  readonly from: string;
  readonly to: readonly string[];
  /** User and password as received. */
  readonly login: readonly [string, string] | null;
  /**
   * Headers and body, with \r
   * line ends.
   */
  readonly data: string;
}

export interface FakeMailServer {
  readonly port: number;
  readonly mails: readonly TakenMail[];
  behaviour: MailBehaviour;
  /** Resolves once no client is connected. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/** A minimal SMTP server (RFC 5321) with AUTH PLAIN. */
export async function fakeMailServer(behaviour: MailBehaviour = "takes"): Promise<FakeMailServer> {
  const mails: TakenMail[] = [];
  const sockets = new Set<Socket>();
  let waiting: (() => void)[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      sockets.delete(socket);
      if (sockets.size > 0) return;
      for (const resolve of waiting) resolve();
      waiting = [];
    });
    if (fake.behaviour !== "silent") converse(socket, fake, mails);
  });
  const fake: FakeMailServer = {
    get port() {
      return (server.address() as AddressInfo).port;
    },
    mails,
    behaviour,
    idle: () => (sockets.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return fake;
}

function converse(socket: Socket, fake: FakeMailServer, mails: TakenMail[]): void {
  const say = (line: string) => socket.write(`${line}\r\n`);
  let [pending, from, data] = ["", "", null as string | null];
  let to: string[] = [];
  let login: [string, string] | null = null;

  function hear(line: string): void {
    if (data !== null) {
      if (line !== ".") {
        data += `${line.replace(/^\./, "")}\r\n`;
        return;
      }
      if (fake.behaviour === "silent_after_mail") return;
      mails.push({ from, to, login, data });
      data = null;
      say("250 2.0.0 taken");
    } else if (/^EHLO /i.test(line)) say("250-mail.test\r\n250-8BITMIME\r\n250 AUTH PLAIN");
    else if (/^AUTH PLAIN /i.test(line)) {
      const [, user = "", pass = ""] = Buffer.from(line.slice(11), "base64").toString().split("\0");
      login = [user, pass];
      say(fake.behaviour === "refuses_login" ? `535 5.7.8 no: ${line.slice(11)} is ${user} ${pass}` : "235 2.7.0 welcome");
    } else if (/^MAIL FROM:/i.test(line)) {
      from = line.match(/<(.*?)>/)?.[1] ?? "";
      say("250 2.1.0 ok");
    } else if (/^RCPT TO:/i.test(line)) {
      if (fake.behaviour === "refuses_receiver") return void say("550 5.1.1 nobody of this name");
      to.push(line.match(/<(.*?)>/)?.[1] ?? "");
      say("250 2.1.5 ok");
    } else if (/^DATA$/i.test(line)) {
      data = "";
      say("354 go on");
    } else if (/^QUIT/i.test(line)) {
      say("221 2.0.0 bye");
      socket.end();
    } else {
      say(/^RSET/i.test(line) ? "250 2.0.0 ok" : "502 5.5.1 not known here");
      [from, to] = ["", []];
    }
  }

  socket.setEncoding("utf8");
  socket.on("data", (piece: string) => {
    const lines = (pending + piece).split("\r\n");
    pending = lines.pop() ?? "";
    for (const line of lines) hear(line);
  });
  say("220 mail.test ESMTP");
}
