import { afterEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fakeMailServer, type FakeMailServer, type MailBehaviour } from "../../tests/support/processes/mail-server.ts";
import { PATIENCE_MS } from "../../tests/support/patience.ts";
import { mailSender } from "./mail-sender.ts";

const FROM = { name: "Gatehouse", address: "gateway@mail.example" };
const LOGIN = { user: "postmaster", pass: "p@ss:word/1" };
const MAIL = { to: { name: "Ada", address: "ada@example.com" }, subject: "Hello", text: "One\n.\nTwo\n" };

let opened: FakeMailServer | undefined;
afterEach(() => opened?.close());

async function sender(behaviour: MailBehaviour, options: { timeoutMs?: number; login?: typeof LOGIN | null } = {}) {
  const server = await fakeMailServer(behaviour);
  opened = server;
  const { timeoutMs = PATIENCE_MS, login = LOGIN } = options;
  return { server, send: mailSender({ host: "127.0.0.1", port: server.port, secure: false, login }, FROM, timeoutMs) };
}

test("a mail is delivered with sender, receiver, credentials and complete text", async () => {
  const { server, send } = await sender("takes");
  expect(await send(MAIL)).toBeNull();
  expect(server.mails).toMatchObject([{ from: FROM.address, to: ["ada@example.com"], login: [LOGIN.user, LOGIN.pass] }]);
  const [headers = "", body] = (server.mails[0]?.data ?? "").split(/\r\n\r\n([^]*)/);
  expect(headers.split("\r\n")).toEqual(
    expect.arrayContaining(["From: Gatehouse <gateway@mail.example>", "To: Ada <ada@example.com>", "Subject: Hello"]),
  );
  expect(body?.trimEnd()).toBe("One\r\n.\r\nTwo");
  await server.idle();
});

test("without credentials in the settings, no login is sent", async () => {
  const { server, send } = await sender("takes", { login: null });
  expect([await send(MAIL), server.mails[0]?.login]).toEqual([null, null]);
});

describe("a mail that could not be sent is reported by error codes only", () => {
  test.each([
    ["refuses_login", "EAUTH 535"],
    ["refuses_receiver", "EENVELOPE 550"],
  ] as const)("if the server %s", async (behaviour, failure) => {
    const { server, send } = await sender(behaviour);
    expect([await send(MAIL), server.mails]).toEqual([failure, []]);
    await server.idle();
  });

  test.each(["silent", "silent_after_mail"] as const)("if the server is %s, and the connection is closed", async (behaviour) => {
    const { server, send } = await sender(behaviour, { timeoutMs: 150 });
    expect([await send(MAIL), server.mails]).toEqual(["timeout", []]);
    await server.idle();
  });

  test("if nothing listens", async () => {
    const { server, send } = await sender("takes");
    await server.close();
    expect(await send(MAIL)).toMatch(/^E[A-Z]+$/);
  });

  test("if credentials would leave this machine unencrypted", async () => {
    const { server } = await sender("takes");
    // A non-loopback name of this machine stands for another machine.
    const send = mailSender({ host: "0.0.0.0", port: server.port, secure: false, login: LOGIN }, FROM, 5_000);
    expect([await send(MAIL), server.mails]).toEqual(["ETLS 502", []]);
  });
});

test("names and subjects cannot inject headers or receivers", async () => {
  const { server, send } = await sender("takes");
  const names = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc
      .array(fc.constantFrom("\r\n", "\n", "\r", "Bcc: eve@evil.example", "<eve@evil.example>", ",", ";", '"', "\\", "\0", " ", "\u2028"), {
        maxLength: 8,
      })
      .map((parts) => parts.join("")),
  );
  await fc.assert(
    fc.asyncProperty(names, names, async (name, subject) => {
      const before = server.mails.length;
      expect(await send({ ...MAIL, to: { name, address: "ada@example.com" }, subject })).toBeNull();
      const { to, data } = server.mails[before] as FakeMailServer["mails"][number];
      expect(to).toEqual(["ada@example.com"]);
      // A folded line begins with a space and continues the header before it.
      const headers = (data.split("\r\n\r\n")[0] ?? "")
        .split("\r\n")
        .filter((line) => !/^[ \t]/.test(line))
        .map((line) => line.split(":")[0] ?? "");
      const allowed = ["Content-Transfer-Encoding", "Content-Type", "Date", "From", "MIME-Version", "Message-ID", "Subject", "To"];
      expect(headers.filter((header) => !allowed.includes(header))).toEqual([]);
      expect(new Set(headers).size).toBe(headers.length);
    }),
    { numRuns: 60 },
  );
});
