import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type WelcomeMailer, welcomeMailer } from "../../../server/directory/people/welcome-mail.ts";
import { jsonLog } from "../../../server/kernel/log.ts";
import { mailSender } from "../../../server/runtime/mail-sender.ts";
import { dummyVerify, hashCode, hashPassword, verifyCode, verifyPassword } from "../../../server/runtime/passwords.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { fakeMailServer, type FakeMailServer } from "../../support/processes/mail-server.ts";
import { controlPlane, newTenant, type ControlPlane, type Send } from "./admin-harness.ts";

let plane: ControlPlane;
let send: Send;
let foreign: Send;

const PASSWORD = "a long enough password";
const GROUPS = "/v1/admin/end-user-groups";

beforeAll(async () => {
  plane = await controlPlane();
  send = (await newTenant(plane, "acme")).send;
  foreign = (await newTenant(plane, "beta")).send;
});
afterAll(() => plane.close());

const makeUser = async (username: string, body: object = {}): Promise<string> =>
  (await send("POST", "/v1/admin/end-users", { username, password: PASSWORD, ...body })).body.user.id;
const makeGroup = async (name: string, members: string[] = []): Promise<string> =>
  (await send("POST", GROUPS, { name, initial_member_ids: members })).body.id;
const makeResourceGroup = async (name: string): Promise<string> => (await send("POST", "/v1/admin/resource-groups", { name })).body.id;

describe("a welcome mail", () => {
  const CREDENTIALS = { user: "postmaster", pass: "smtp-secret-word" };
  let mail: FakeMailServer;
  let mailing: ControlPlane;
  let admin: Send;
  const logged: { event: string; fields: object }[] = [];
  let welcome: WelcomeMailer;
  const make = (username: string, body: object = {}) =>
    admin("POST", "/v1/admin/end-users", {
      username,
      password: PASSWORD,
      email: `${username}@example.com`,
      send_welcome_email: true,
      ...body,
    });

  beforeAll(async () => {
    mail = await fakeMailServer();
    const log = jsonLog("debug", (line) => {
      const { event, ...fields } = JSON.parse(line);
      logged.push({ event, fields });
    });
    const sender = (patienceMs: number) =>
      mailSender(
        { host: "127.0.0.1", port: mail.port, secure: false, login: CREDENTIALS },
        { name: "Gatehouse", address: "gateway@mail.example" },
        patienceMs,
      );
    const [short, patient] = [sender(300), sender(PATIENCE_MS)];
    const sendMail: typeof patient = (letter) => (mail.behaviour.startsWith("silent") ? short : patient)(letter);
    welcome = welcomeMailer({ send: sendMail, publicUrl: "https://gateway.example", log });
    mailing = await controlPlane({ welcome });
    admin = (await newTenant(mailing, "mailing")).send;
  });
  afterAll(async () => {
    await mailing.close();
    await mail.close();
  });

  test("is sent on request to users with an address, without the password or injected headers", async () => {
    const hostile = { display_name: "Grace\r\nBcc: eve@evil.example" };
    expect((await make("grace", hostile)).body.fields).toMatchObject([{ field: "display_name" }]);
    const made = await make("grace", { display_name: "Grace" });
    expect([made.status, made.body.welcome_email_sent]).toEqual([201, true]);
    // Names from other sources than the API cannot inject headers either.
    expect(await welcome({ ...made.body.user, ...hostile })).toBe(true);
    const letter = { from: "gateway@mail.example", to: ["grace@example.com"] };
    expect(mail.mails).toMatchObject([letter, letter]);
    for (const sent of mail.mails) {
      // Undoes the soft line breaks of quoted-printable.
      const data = sent.data.replaceAll("=\r\n", "");
      expect(data).toContain("User name: grace\r\nAddress: https://gateway.example\r\n");
      expect(data).not.toContain(PASSWORD);
      expect(data).not.toMatch(/^bcc:/im);
    }
    for (const [username, body] of [
      ["unasked", { send_welcome_email: false }],
      ["silent", { send_welcome_email: undefined }],
      ["homeless", { email: null }],
    ] as const) {
      expect((await make(username, body)).body).toMatchObject({ user: { username }, welcome_email_sent: false });
    }
    expect((await make("grace")).status).toBe(409);
    expect([mail.mails.length, logged]).toEqual([2, []]);
  });

  test.each([
    ["refuses_login", "EAUTH 535"],
    ["refuses_receiver", "EENVELOPE 550"],
    ["silent", "timeout"],
    ["silent_after_mail", "timeout"],
  ] as const)("when the mail server's behaviour is %s: the user is created, and the log has only codes", async (behaviour, failure) => {
    mail.behaviour = behaviour;
    logged.length = 0;
    const made = await make(`made-${behaviour.replaceAll("_", "-")}`);
    expect([made.status, made.body.welcome_email_sent]).toEqual([201, false]);
    expect((await admin("GET", `/v1/admin/end-users/${made.body.user.id}`)).status).toBe(200);
    expect(logged).toMatchObject([{ event: "welcome_mail_failed", fields: { user_id: made.body.user.id, failure } }]);
    const told = JSON.stringify([logged, made.body]);
    for (const secret of [CREDENTIALS.pass, Buffer.from(`\0${CREDENTIALS.user}\0${CREDENTIALS.pass}`).toString("base64"), PASSWORD])
      expect(told).not.toContain(secret);
  });
});

describe("end users", () => {
  test("are created, found, changed, deactivated and deleted; no response or log shows a password", async () => {
    const made = await send("POST", "/v1/admin/end-users", {
      username: "ada",
      password: PASSWORD,
      email: "ada@example.com",
      send_welcome_email: true,
    });
    expect([made.status, made.body.welcome_email_sent, made.body.user.is_active]).toEqual([201, false, true]);
    const twin = await send("POST", "/v1/admin/end-users", { username: "ADA", password: PASSWORD });
    expect([twin.status, twin.body.existing_id, twin.body.detail]).toEqual([
      409,
      made.body.user.id,
      "There is already an end user of this name.",
    ]);
    await makeUser("bob");
    expect((await send("GET", "/v1/admin/end-users?search=AD")).body).toMatchObject({ users: [{ username: "ada" }], total: 1 });
    const one = `/v1/admin/end-users/${made.body.user.id}`;
    expect((await send("PATCH", one, { is_verified: true, metadata: { team: "a" } })).body).toMatchObject({
      is_verified: true,
      metadata: { team: "a" },
      email: "ada@example.com",
    });
    expect((await send("PATCH", `${one}/status`, { is_active: false })).body.is_active).toBe(false);
    expect(
      (await send("GET", "/v1/admin/end-users?active_only=True")).body.users.map(({ username }: { username: string }) => username),
    ).toEqual(["bob"]);
    expect((await send("DELETE", one)).status).toBe(204);
    expect([(await send("GET", one)).status, (await send("DELETE", one)).status]).toEqual([404, 404]);
    const log = JSON.stringify((await send("GET", "/v1/admin/admin-log?page_size=200")).body);
    expect(log).toContain("set_status");
    expect(log).not.toContain(PASSWORD);
    expect(log).not.toContain("$argon2id");
    // The log is never changed, and a person may ask to be erased.
    expect(log).not.toContain("ada@example.com");
  });

  test("are identified by username in any Unicode normalization form", async () => {
    const [name, apart] = ["zoë", "zoe\u0308"];
    const made = await send("POST", "/v1/admin/end-users", { username: apart, password: PASSWORD });
    expect([made.status, made.body.user.username]).toEqual([201, name]);
    expect((await send("POST", "/v1/admin/end-users", { username: name, password: PASSWORD })).body.existing_id).toBe(made.body.user.id);
    for (const search of [name, apart])
      expect((await send("GET", `/v1/admin/end-users?search=${encodeURIComponent(search)}`)).body.total).toBe(1);
    expect((await send("POST", "/v1/admin/data-erasure", { subject: { gateway_user_username: apart } })).body.account_erased).toBe(true);
  });

  test("keep a resource group from being deleted while it is their primary group", async () => {
    const group = await makeResourceGroup("home");
    const user = await makeUser("homely", { primary_group_id: group });
    const busy = await send("DELETE", `/v1/admin/resource-groups/${group}`);
    expect([busy.status, busy.body.dependents]).toEqual([409, ["1 end user in it"]]);
    expect((await send("PATCH", `/v1/admin/end-users/${user}/primary-group`, { group_id: null })).body.primary_group_id).toBeNull();
    expect((await send("DELETE", `/v1/admin/resource-groups/${group}`)).status).toBe(204);
    const wrong = await send("PATCH", `/v1/admin/end-users/${user}/primary-group`, { group_id: group });
    expect([wrong.status, wrong.body.fields[0].field]).toEqual([400, "group_id"]);
  });

  test("are exported completely as CSV and JSON, with spreadsheet formulas escaped", async () => {
    await makeUser("=cmd|' /C calc'!A0", { display_name: '+1,"x"', email: "x@example.com" });
    const csv = await send("GET", "/v1/admin/end-users/export/csv");
    expect([csv.status, csv.headers.get("content-type"), csv.headers.get("content-disposition")]).toEqual([
      200,
      "text/csv; charset=utf-8",
      'attachment; filename="end-users.csv"',
    ]);
    const lines = String(csv.body).split("\r\n");
    expect(lines[0]).toBe("id,username,email,display_name,is_active,is_verified,totp_enabled,primary_group_id,last_login,created_at");
    expect(String(csv.body)).toContain(`"'=cmd|' /C calc'!A0",x@example.com,"'+1,""x""",true`);
    const json = await send("GET", "/v1/admin/end-users/export/json");
    const listed = await send("GET", "/v1/admin/end-users?page_size=200");
    expect(json.body.users).toHaveLength(listed.body.total);
    expect(json.body.users.map(({ username }: { username: string }) => username)).toContain("=cmd|' /C calc'!A0");
    expect(JSON.stringify((await foreign("GET", "/v1/admin/end-users/export/json")).body)).not.toContain("x@example.com");
  });
});

describe("end-user groups", () => {
  test("have members that are added once, removed once, and replaced as a whole", async () => {
    const [a, b, c] = [await makeUser("m-a"), await makeUser("m-b"), await makeUser("m-c")];
    const group = await makeGroup("members", [a]);
    const members = `${GROUPS}/${group}/members`;
    expect((await send("POST", members, { end_user_ids: [a, b] })).body).toEqual({ bound: [b], already_bound: [a] });
    const again = await send("POST", members, { end_user_ids: [a, b] });
    expect([again.status, again.body.code, again.body.already_bound]).toEqual([409, "already_bound", [a, b]]);
    expect((await send("DELETE", `${members}?end_user_ids=${a},${c}`)).body).toEqual({ unbound: [a], not_bound: [c] });
    const gone = await send("DELETE", members, { end_user_ids: [a] });
    expect(gone.body.code).toBe("not_bound");
    // A script that repeats its requests is not logged as refused attempts.
    await plane.attempts.write("all");
    const told = await plane.database.db
      .selectFrom("admin_log")
      .select("after")
      .where(
        "request_id",
        "in",
        [again, gone].map(({ headers }) => headers.get("x-request-id")),
      )
      .execute();
    expect(told).toEqual([]);
    expect((await send("PUT", members, { end_user_ids: [a, c] })).body).toEqual({
      added: expect.arrayContaining([a, c]),
      removed: [b],
      member_count: 2,
    });
    expect((await send("PUT", members, { end_user_ids: [a, c] })).body).toEqual({ added: [], removed: [], member_count: 2 });
    expect((await send("GET", members)).body).toMatchObject({
      total: 2,
      members: [{ username: "m-a", sources: ["direct"] }, { username: "m-c" }],
    });
    const stranger = await send("POST", members, { end_user_ids: [crypto.randomUUID()] });
    expect([stranger.status, stranger.body.fields[0].field]).toEqual([400, "end_user_ids"]);
  });

  test("keep memberships from an external directory when an administrator removes members", async () => {
    const [a, b] = [await makeUser("x-a"), await makeUser("x-b")];
    const group = await makeGroup("external", [b]);
    await plane.database.db
      .insertInto("end_user_group_members")
      .values({ group_id: group, end_user_id: a, source: "scim", tenant_id: "acme" })
      .execute();
    const members = `${GROUPS}/${group}/members`;
    expect((await send("POST", members, { end_user_ids: [a] })).body.bound).toEqual([a]);
    expect((await send("GET", members)).body.members[0].sources).toEqual(["direct", "scim"]);
    expect((await send("PUT", members, { end_user_ids: [] })).body).toMatchObject({ member_count: 1 });
    expect((await send("GET", members)).body.members.map(({ id }: { id: string }) => id)).toEqual([a]);
    expect((await send("DELETE", members, { end_user_ids: [a] })).status).toBe(404);
  });

  test("are bound to resource groups from either side, once", async () => {
    const group = await makeGroup("bound");
    const [one, two] = [await makeResourceGroup("b-one"), await makeResourceGroup("b-two")];
    const fromUsers = `${GROUPS}/${group}/resource-groups`;
    const fromOne = `/v1/admin/resource-groups/${one}/end-user-groups`;
    expect((await send("POST", fromUsers, { resource_group_ids: [one] })).body).toEqual({ bound: [one], already_bound: [] });
    expect((await send("POST", fromOne, { end_user_group_ids: [group] })).body.code).toBe("already_bound");
    expect((await send("POST", fromUsers, { group_ids: [one, two] })).body).toEqual({ bound: [two], already_bound: [one] });
    expect((await send("GET", fromUsers)).body.resource_groups.map(({ name }: { name: string }) => name)).toEqual(["b-one", "b-two"]);
    expect((await send("GET", fromOne)).body).toMatchObject({ end_user_groups: [{ id: group, name: "bound" }], total: 1 });
    expect((await send("DELETE", fromOne, { end_user_group_ids: [group] })).body).toEqual({ unbound: [group], not_bound: [] });
    expect((await send("DELETE", fromOne, { end_user_group_ids: [group] })).body.code).toBe("not_bound");
    expect((await send("DELETE", `${fromUsers}?resource_group_ids=${two}`)).status).toBe(200);
    for (const body of [{}, { resource_group_ids: [one], group_ids: [one] }, { resource_group_ids: [crypto.randomUUID()] }]) {
      const bad = await send("POST", fromUsers, body);
      expect([bad.status, bad.body.fields[0].field]).toEqual([400, "resource_group_ids"]);
    }
  });

  test("refuse members and resource groups of another tenant", async () => {
    const foreignUser = (await foreign("POST", "/v1/admin/end-users", { username: "f", password: PASSWORD })).body.user.id;
    const foreignGroup = (await foreign("POST", "/v1/admin/resource-groups", { name: "f" })).body.id;
    const group = await makeGroup("closed");
    const replies = [
      await send("POST", `${GROUPS}/${group}/members`, { end_user_ids: [foreignUser] }),
      await send("PUT", `${GROUPS}/${group}/members`, { end_user_ids: [foreignUser] }),
      await send("POST", `${GROUPS}/${group}/resource-groups`, { resource_group_ids: [foreignGroup] }),
      await send("POST", GROUPS, { name: "n", initial_member_ids: [foreignUser] }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
  });
});

test("requests waiting for password hashing do not block other requests", async () => {
  let open = () => {};
  let gate = Promise.resolve();
  const waiting = await controlPlane({
    passwords: { hashPassword: (password) => gate.then(() => hashPassword(password)), verifyPassword, dummyVerify, hashCode, verifyCode },
  });
  try {
    const user = (await waiting.system("POST", "/v1/admin/end-users", { username: "there", password: PASSWORD })).body.user.id;
    const admin = (await waiting.system("POST", "/v1/admin/admin-users", { username: "there", password: PASSWORD })).body.id;
    gate = new Promise((resolve) => (open = resolve));
    // More requests than there are database connections.
    const changes = [1, 2, 3].flatMap((n) => [
      waiting.system("POST", "/v1/admin/end-users", { username: `user ${n}`, password: PASSWORD }),
      waiting.system("PATCH", `/v1/admin/end-users/${user}`, { password: `${PASSWORD} ${n}` }),
      waiting.system("POST", "/v1/admin/admin-users", { username: `admin-${n}`, password: PASSWORD }),
      waiting.system("PATCH", `/v1/admin/admin-users/${admin}`, { password: `${PASSWORD} ${n}` }),
    ]);
    for (const _ of changes) expect((await waiting.system("GET", "/v1/admin/end-users")).body.total).toBe(1);
    open();
    expect((await Promise.all(changes)).map(({ status }) => status)).toEqual([201, 200, 201, 200, 201, 200, 201, 200, 201, 200, 201, 200]);
  } finally {
    open();
    await waiting.close();
  }
});

test("binding groups from both sides concurrently neither deadlocks nor repeats a binding", async () => {
  const numbers = [1, 2, 3, 4, 5, 6, 7, 8];
  const users = await Promise.all(numbers.map((n) => makeGroup(`circle ${n}`)));
  const resources = await Promise.all(numbers.map((n) => makeResourceGroup(`circle ${n}`)));
  const both = (method: "POST" | "DELETE") =>
    Promise.all(
      numbers.flatMap((_, i) => [
        send(method, `${GROUPS}/${users[i]}/resource-groups`, { resource_group_ids: resources }),
        send(method, `/v1/admin/resource-groups/${resources[i]}/end-user-groups`, { end_user_group_ids: users }),
      ]),
    );
  const bound = await both("POST");
  expect(bound.flatMap(({ body }) => body.bound ?? [])).toHaveLength(64);
  expect(bound.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
  const unbound = await both("DELETE");
  expect(unbound.flatMap(({ body }) => body.unbound ?? [])).toHaveLength(64);
  expect(unbound.filter(({ status }) => status !== 200 && status !== 404)).toEqual([]);
});
