import { afterAll, beforeAll, expect, test } from "bun:test";
import { PASSWORD } from "../../support/worlds/portal.ts";
import { fakeMailServer, type FakeMailServer } from "../../support/processes/mail-server.ts";
import { startWorld, type World } from "../../support/world.ts";

let mail: FakeMailServer;
let world: World;

beforeAll(async () => {
  mail = await fakeMailServer();
  world = await startWorld({
    GW_SMTP_URL: `smtp://postmaster:p%40ss@127.0.0.1:${mail.port}`,
    GW_SMTP_FROM: "Gatehouse <gateway@mail.example>",
    GW_PUBLIC_URL: "https://gateway.example",
  });
});
afterAll(async () => {
  await world.end();
  await mail.close();
});

test("with a mail server configured, a user created by an administrator gets a welcome mail", async () => {
  const made = await world.admin.post("/v1/admin/end-users", {
    username: "ada",
    password: PASSWORD,
    email: "ada@example.com",
    send_welcome_email: true,
  });
  expect([made.user.username, made.welcome_email_sent]).toEqual(["ada", true]);
  expect(mail.mails).toMatchObject([{ from: "gateway@mail.example", to: ["ada@example.com"], login: ["postmaster", "p@ss"] }]);
});
