import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rowOf, serveModels, type Served } from "../../support/worlds/admin.ts";
import { PASSWORD, portalClient } from "../../support/worlds/portal.ts";
import { ENTERPRISE, GROUP, patchOf, scimClient, type ScimClient, USER } from "../../support/identity/scim.ts";
import { leastOf } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

/** People and groups as external directories write them, and what they become in the gateway. */

let world: World;
let served: Served;
let scim: ScimClient;
let token: string;

beforeAll(async () => {
  world = await startWorld();
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1", "hold"]);
  ({ token } = await world.admin.post("/v1/admin/scim-tokens", { name: "Entra", directory: "entra", tenant_id: "default" }));
  scim = scimClient(world.gateway.adminUrl, token);
});
afterAll(() => world.end());

let number = 0;
async function newUser(more: object = {}): Promise<any> {
  const userName = `person-${++number}@example.com`;
  const made = await scim.send("POST", "/Users", { schemas: [USER], userName, externalId: `ext-${number}`, active: true, ...more });
  expect(made.status).toBe(201);
  return made.body;
}

async function newGroup(members: readonly string[] = []): Promise<any> {
  const body = { schemas: [GROUP], displayName: `group ${++number}`, members: members.map((value) => ({ value })) };
  const made = await scim.send("POST", "/Groups", body);
  expect(made.status).toBe(201);
  return made.body;
}

const chat = (key: string, model: string) =>
  fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, stream: true, messages: [{ role: "user", content: "hello" }] }),
  });

describe("a person deactivated by the directory", () => {
  test("stays deactivated when an update omits or removes active", async () => {
    const person = await newUser({ active: false });
    const { userName } = person;
    for (const [method, body] of [
      ["PUT", { schemas: [USER], userName }],
      ["PATCH", patchOf({ op: "remove", path: "active" })],
    ] as const) {
      const answer = await scim.send(method, `/Users/${person.id}`, body);
      expect([method, answer.status, answer.body.active]).toEqual([method, 200, false]);
    }
    expect((await scim.send("PUT", `/Users/${person.id}`, { schemas: [USER], userName, active: true })).body.active).toBe(true);
  });

  test("loses API keys, sessions and open streams within a second, and regains API keys when reactivated", async () => {
    const ms = await leastOf(3, 1_000, async () => {
      const person = await newUser();
      const group = await newGroup([person.id]);
      await world.admin.post(`/v1/admin/resource-groups/${served.groupId}/end-user-groups`, { end_user_group_ids: [group.id] });
      const { key } = await world.admin.post(`/v1/admin/resource-groups/${served.groupId}/api-keys`, {
        name: `of ${person.id}`,
        scope: "user",
        end_user_id: person.id,
      });
      expect((await chat(key, "fake-1")).status).toBe(200);
      await world.admin.request("PATCH", `/v1/admin/end-users/${person.id}?tenant_id=default`, { password: PASSWORD });
      const login = await portalClient(world.gateway.runtimeUrl).request("POST", "/auth/login", {
        username: person.userName,
        password: PASSWORD,
      });
      expect(login.status).toBe(200);
      const session = portalClient(world.gateway.runtimeUrl, login.body.access_token);
      const events = await fetch(`${world.gateway.runtimeUrl}/v1/portal/events`, { headers: { authorization: `Bearer ${session.token}` } });
      const stream = await chat(key, "hold");
      const reader = stream.body!.getReader();
      await reader.read();

      const patched = await scim.send("PATCH", `/Users/${person.id}`, patchOf({ op: "Replace", path: "active", value: "False" }));
      const off = performance.now();
      expect([patched.status, patched.body.active]).toEqual([200, false]);
      let rest = "";
      for (let read = await reader.read(); !read.done; read = await reader.read()) rest += new TextDecoder().decode(read.value);
      expect(rest).toContain("Your access ended");
      await events.text();
      const took = performance.now() - off;
      expect((await chat(key, "fake-1")).status).toBe(403);
      expect((await session.request("GET", "/auth/profile")).status).toBe(403);
      const row = await rowOf(world.admin, { id: stream.headers.get("x-request-id") });
      expect(row).toMatchObject({ success: false, error_type: "access_ended" });

      expect((await scim.send("PATCH", `/Users/${person.id}`, patchOf({ op: "replace", value: { active: true } }))).body.active).toBe(true);
      expect((await chat(key, "fake-1")).status).toBe(200);
      // Tokens issued before stay invalid.
      expect((await session.request("GET", "/auth/profile")).status).toBe(401);
      world.upstream.release();
      return took;
    });
    expect(ms).toBeLessThan(1_000);
  });

  test("stays deactivated when reactivated by the directory, if an administrator has deactivated them too", async () => {
    const person = await newUser();
    await world.admin.request("PATCH", `/v1/admin/end-users/${person.id}/status?tenant_id=default`, { is_active: false });
    await scim.send("PATCH", `/Users/${person.id}`, patchOf({ op: "replace", path: "active", value: false }));
    await scim.send("PATCH", `/Users/${person.id}`, patchOf({ op: "replace", path: "active", value: true }));
    expect((await world.admin.get(`/v1/admin/end-users/${person.id}`)).is_active).toBe(false);
    const log = await world.admin.get(`/v1/admin/provisioning-log?tenant_id=default&resource_id=${person.id}`);
    expect(log.entries[0]).toMatchObject({
      outcome: "reactivated",
      directory: "entra",
      detail: { reason: expect.stringContaining("administrator") },
    });
  });

  test("cannot be reactivated by an administrator while the directory has a SCIM token", async () => {
    const person = await newUser({ active: false });
    const again = await world.admin.request("PATCH", `/v1/admin/end-users/${person.id}/status?tenant_id=default`, { is_active: true });
    expect([again.status, again.body.code, again.body.directory]).toEqual([409, "directory_owned", "entra"]);
  });

  test("by deletion is kept deactivated in the gateway, and reactivated when created again", async () => {
    const person = await newUser();
    const group = await newGroup([person.id]);
    expect((await scim.send("DELETE", `/Users/${person.id}`)).status).toBe(204);
    expect((await scim.send("GET", `/Users/${person.id}`)).status).toBe(404);
    expect((await scim.send("DELETE", `/Users/${person.id}`)).status).toBe(404);
    expect((await world.admin.get(`/v1/admin/end-users/${person.id}`)).is_active).toBe(false);
    expect((await scim.send("GET", `/Groups/${group.id}`)).body.members).toEqual([]);
    const back = await scim.send("POST", "/Users", { schemas: [USER], userName: person.userName, externalId: person.externalId });
    expect([back.status, back.body.id, back.body.active]).toEqual([201, person.id, true]);
    expect((await world.admin.get(`/v1/admin/end-users/${person.id}`)).is_active).toBe(true);
  });
});

describe("a record kept by a directory", () => {
  test("cannot be changed by an administrator, and memberships name the directory as their source", async () => {
    const person = await newUser({ name: { givenName: "Ada", familyName: "King" }, emails: [{ value: "ada@example.com", type: "work" }] });
    const group = await newGroup([person.id]);
    expect(await world.admin.get(`/v1/admin/end-users/${person.id}`)).toMatchObject({ display_name: "Ada King", email: "ada@example.com" });
    const members = await world.admin.get(`/v1/admin/end-user-groups/${group.id}/members`);
    expect(members.members).toMatchObject([{ id: person.id, sources: ["entra"] }]);
    for (const [method, path, body] of [
      ["PATCH", `/v1/admin/end-users/${person.id}`, { display_name: "Other" }],
      ["PATCH", `/v1/admin/end-user-groups/${group.id}`, { name: "renamed" }],
      ["POST", `/v1/admin/end-user-groups/${group.id}/members`, { end_user_ids: [person.id] }],
      ["PUT", `/v1/admin/end-user-groups/${group.id}/members`, { end_user_ids: [] }],
      ["DELETE", `/v1/admin/end-user-groups/${group.id}`, undefined],
    ] as const) {
      const refused = await world.admin.request(method, path, body);
      expect([method, path, refused.status, refused.body?.code]).toEqual([method, path, 409, "directory_owned"]);
    }
  });

  test("cannot be found or changed with a SCIM token of another tenant or directory", async () => {
    const person = await newUser();
    const group = await newGroup([person.id]);
    await world.admin.post("/v1/admin/tenants", { id: "elsewhere", name: "elsewhere" });
    for (const where of [
      { directory: "entra", tenant_id: "elsewhere" },
      { directory: "okta", tenant_id: "default" },
    ]) {
      const other = scimClient(
        world.gateway.adminUrl,
        (await world.admin.post("/v1/admin/scim-tokens", { name: "other", ...where })).token,
      );
      expect((await other.send("GET", "/Users")).body.totalResults).toBe(0);
      expect((await other.send("GET", "/Groups")).body.totalResults).toBe(0);
      for (const path of [`/Users/${person.id}`, `/Groups/${group.id}`]) {
        expect((await other.send("GET", path)).status).toBe(404);
        expect((await other.send("DELETE", path)).status).toBe(404);
        expect((await other.send("PATCH", path, patchOf({ op: "replace", path: "externalId", value: "x" }))).status).toBe(404);
        expect((await other.send("PUT", path, { userName: "x", displayName: "x" })).status).toBe(404);
      }
      const theirs = (
        await other.send("POST", "/Groups", { displayName: `of ${where.directory} ${where.tenant_id}`, members: [{ value: person.id }] })
      ).body;
      expect(theirs.members).toEqual([]);
    }
    expect((await world.admin.get(`/v1/admin/end-users/${person.id}`)).is_active).toBe(true);
  });

  test("is created over an existing account only with a token that adopts accounts", async () => {
    const { user } = await world.admin.post("/v1/admin/end-users", { tenant_id: "default", username: "Local.One", password: PASSWORD });
    const refused = await scim.send("POST", "/Users", { userName: "local.one" });
    expect([refused.status, refused.body.scimType, refused.body.status]).toEqual([409, "uniqueness", "409"]);
    expect((await scim.send("GET", `/Users/${user.id}`)).status).toBe(404);
    const log = await world.admin.get("/v1/admin/provisioning-log?tenant_id=default&outcome=conflict");
    expect(log.entries[0].detail.reason).toContain("does not keep");
    const adopting = await world.admin.post("/v1/admin/scim-tokens", {
      name: "a",
      directory: "entra",
      adopt_existing: true,
      tenant_id: "default",
    });
    const adopted = await scimClient(world.gateway.adminUrl, adopting.token).send("POST", "/Users", { userName: "local.one" });
    expect([adopted.status, adopted.body.id]).toEqual([201, user.id]);
  });

  test("that is a large group cannot be emptied by one request, unless the token allows it", async () => {
    const people: { id: string }[] = [];
    while (people.length < 51) people.push(await newUser());
    const group = await newGroup(people.map(({ id }) => id));
    const five = people.slice(0, 5).map(({ id }) => ({ value: id }));
    const guarded = patchOf({ op: "remove", path: "members" });
    // More than fifty members would be removed.
    people.push(...(await Promise.all(Array.from({ length: 5 }, newUser))));
    const added = people.slice(51).map(({ id }) => ({ value: id }));
    await scim.send("PATCH", `/Groups/${group.id}`, patchOf({ op: "add", path: "members", value: added }));
    const nearly = patchOf({ op: "replace", path: "members", value: five });
    for (const patch of [guarded, nearly]) {
      expect((await scim.send("PATCH", `/Groups/${group.id}`, patch)).status).toBe(409);
      expect((await scim.send("GET", `/Groups/${group.id}`)).body.members.length).toBe(56);
    }
    const fewer = patchOf({ op: "replace", path: "members", value: people.slice(0, 51).map(({ id }) => ({ value: id })) });
    expect((await scim.send("PATCH", `/Groups/${group.id}`, fewer)).status).toBe(204);
    const one = await scim.send(
      "PATCH",
      `/Groups/${group.id}`,
      patchOf({ op: "Remove", path: "members", value: [{ value: people[0]?.id }] }),
    );
    expect([one.status, (await scim.send("GET", `/Groups/${group.id}`)).body.members.length]).toEqual([204, 50]);
    expect((await scim.send("PATCH", `/Groups/${group.id}`, patchOf({ op: "remove", path: "members" }))).status).toBe(204);
    expect((await scim.send("GET", `/Groups/${group.id}`)).body.members).toEqual([]);
  });
});

describe("a SCIM token", () => {
  test("is shown once, works next to others of its directory, and is refused once it is revoked", async () => {
    const made = await world.admin.post("/v1/admin/scim-tokens", { name: "second", directory: "entra", tenant_id: "default" });
    const person = await newUser();
    const second = scimClient(world.gateway.adminUrl, made.token);
    expect((await second.send("GET", `/Users/${person.id}`)).body.userName).toBe(person.userName);
    const shown = await world.admin.get(`/v1/admin/scim-tokens/${made.id}`);
    expect([shown.token, shown.status, typeof shown.last_used_at]).toEqual([undefined, "active", "string"]);
    await world.admin.request("DELETE", `/v1/admin/scim-tokens/${made.id}`);
    const refused = await second.send("GET", "/Users");
    expect([refused.status, refused.body.status, refused.headers.get("www-authenticate")]).toEqual([401, "401", "Bearer"]);
    for (const other of [world.admin.token, served.apiKey, "nothing"])
      expect((await scimClient(world.gateway.adminUrl, other).send("GET", "/Users")).status).toBe(401);
  });
});

describe("requests of large directories", () => {
  test("from Entra: its probe, lookups, and the shapes of its PATCH operations", async () => {
    const nobody = await scim.send("GET", `/Users?filter=${encodeURIComponent(`userName eq "${crypto.randomUUID()}"`)}`);
    expect([nobody.status, nobody.body.totalResults, nobody.body.Resources]).toEqual([200, 0, []]);
    const person = await newUser({
      emails: [{ primary: true, type: "work", value: "Work@Example.com" }],
      [ENTERPRISE]: { department: "A" },
    });
    for (const filter of [
      `userName eq "${person.userName.toUpperCase()}"`,
      `externalId eq "${person.externalId}"`,
      `emails[type eq "work"].value eq "work@example.com"`,
      `emails[type eq "work" and value eq "work@example.com"]`,
      `userName eq "${person.userName}" and ${ENTERPRISE}:department eq "a"`,
      `not (userName ne "${person.userName}")`,
    ]) {
      const found = await scim.send("GET", `/Users?filter=${encodeURIComponent(filter)}`);
      expect([filter, found.status, found.body.Resources?.map(({ id }: any) => id)]).toEqual([filter, 200, [person.id]]);
    }
    const patched = await scim.send(
      "PATCH",
      `/Users/${person.id}`,
      patchOf(
        { op: "Add", path: "name.givenName", value: "Ada" },
        { op: "Replace", path: 'emails[type eq "work"].value', value: "new@example.com" },
        { op: "Add", path: 'phoneNumbers[type eq "mobile"].value', value: "+1 555" },
        { op: "Add", path: 'roles[primary eq "True"].value', value: "reader" },
        { op: "Replace", path: `${ENTERPRISE}:department`, value: "B" },
        { op: "Add", path: `${ENTERPRISE}:manager`, value: "manager-1" },
        { op: "Add", path: "someThing.unknown", value: "ignored" },
        { op: "Replace", value: { "name.familyName": "King", [`${ENTERPRISE}:costCenter`]: "7", displayName: "Ada King" } },
        { op: "Remove", path: "title" },
      ),
    );
    expect(patched.status).toBe(200);
    expect(patched.body).toMatchObject({
      active: true,
      displayName: "Ada King",
      name: { givenName: "Ada", familyName: "King" },
      emails: [{ primary: true, type: "work", value: "new@example.com" }],
      phoneNumbers: [{ type: "mobile", value: "+1 555" }],
      roles: [{ primary: true, value: "reader" }],
      [ENTERPRISE]: { department: "B", costCenter: "7", manager: { value: "manager-1" } },
    });
    const again = await scim.send(
      "PATCH",
      `/Users/${person.id}`,
      patchOf({ op: "Add", path: 'roles[primary eq "True"].value', value: "reader" }),
    );
    expect([again.body.roles, again.headers.get("etag")]).toEqual([patched.body.roles, patched.headers.get("etag")]);
    const log = await world.admin.get(`/v1/admin/provisioning-log?tenant_id=default&resource_id=${person.id}`);
    expect(log.entries[0].detail.ignored).toEqual(["someThing.unknown"]);
    expect(JSON.stringify(log)).not.toContain("new@example.com");
    const twice = await scim.send("POST", "/Users", { userName: person.userName, externalId: person.externalId });
    expect([twice.status, twice.body.scimType]).toEqual([409, "uniqueness"]);
  });

  test("with attribute names in any case, and with the manager in an array", async () => {
    const person = (
      await scim.send("POST", "/Users", {
        UserName: "Case@example.com",
        ACTIVE: "True",
        Emails: [{ Value: "case@example.com", Type: "work" }],
      })
    ).body;
    expect(person).toMatchObject({ active: true, emails: [{ value: "case@example.com", type: "work" }] });
    const manager = { op: "Add", path: `${ENTERPRISE}:manager`, value: [{ $ref: "../Users/m-1", value: "m-1" }] };
    const patched = await scim.send("PATCH", `/Users/${person.id}`, {
      operations: [manager, { OP: "Replace", Value: { Active: "False", DisplayName: "Case" } }],
    });
    expect([patched.status, patched.body]).toMatchObject([
      200,
      { active: false, displayName: "Case", [ENTERPRISE]: { manager: { value: "m-1" } } },
    ]);
    const group = await scim.send("POST", "/Groups", { DisplayName: "Case", Members: [{ Value: person.id }] });
    expect([group.status, group.body.members?.length]).toEqual([201, 1]);
    for (const body of [
      { active: true, Active: false },
      { Operations: [], operations: [{ op: "remove", path: "title" }] },
    ])
      expect((await scim.send("PATCH", `/Users/${person.id}`, body)).body.scimType).toBe("invalidSyntax");
  });

  test("from Entra and Okta for groups", async () => {
    const [one, two] = [await newUser(), await newUser()];
    const made = await scim.send("POST", "/Groups", {
      schemas: [GROUP, "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group"],
      externalId: `g-${++number}`,
      displayName: `Group ${number}`,
      meta: { resourceType: "Group" },
    });
    expect(made.status).toBe(201);
    const path = `/Groups/${made.body.id}`;
    const members = async () => (await scim.send("GET", path)).body.members.map(({ value }: any) => value).sort();
    const both = [one.id, two.id].sort();
    for (const [operation, after] of [
      [{ op: "Add", path: "members", value: [{ value: one.id }, { value: two.id }] }, both],
      [{ op: "Add", path: "members", value: [{ $ref: null, value: one.id }] }, both],
      [{ op: "Remove", path: "members", value: [{ $ref: null, value: one.id }] }, [two.id]],
      [{ op: "replace", path: "members", value: [{ value: one.id, display: "x" }] }, [one.id]],
      [{ op: "add", path: "members", value: [{ value: two.id }] }, both],
      [{ op: "remove", path: `members[value eq "${two.id}"]` }, [one.id]],
      [{ op: "replace", value: { id: made.body.id, displayName: `Renamed ${number}` } }, [one.id]],
    ] as const) {
      const patched = await scim.send("PATCH", path, patchOf(operation));
      expect([operation, patched.status, patched.body, await members()]).toEqual([operation, 204, null, [...after]]);
    }
    const found = await scim.send(
      "GET",
      `/Groups?excludedAttributes=members&filter=${encodeURIComponent(`displayName eq "renamed ${number}"`)}`,
    );
    expect(found.body.Resources).toMatchObject([{ id: made.body.id, displayName: `Renamed ${number}` }]);
    expect(found.body.Resources[0].members).toBeUndefined();
    const ofOne = await scim.send("GET", `/Groups?filter=${encodeURIComponent(`members[value eq "${one.id}"]`)}`);
    expect(ofOne.body.Resources.map(({ id }: any) => id)).toEqual([made.body.id]);
    expect((await scim.send("GET", `/Users/${one.id}`)).body.groups).toMatchObject([{ value: made.body.id }]);
    const put = await scim.send("PUT", path, { displayName: `Renamed ${number}`, members: [{ value: two.id }] });
    expect([put.status, await members()]).toEqual([200, [two.id]]);
    expect((await scim.send("DELETE", path)).status).toBe(204);
  });

  test("from Okta: pages, search, and PUT of a whole person", async () => {
    const person = await newUser();
    const page = await scim.send("GET", "/Users?startIndex=1&count=2");
    expect([page.body.itemsPerPage, page.body.startIndex, page.body.Resources.length]).toEqual([2, 1, 2]);
    const next = await scim.send("GET", "/Users?startIndex=3&count=2");
    expect(page.body.Resources.map(({ id }: any) => id)).not.toContain(next.body.Resources[0].id);
    expect(await scim.send("POST", "/.search", { filter: "id pr" })).toMatchObject({ status: 501, body: { status: "501" } });
    for (const [method, path] of [
      ["POST", "/Bulk"],
      ["GET", "/Me"],
    ] as const)
      expect(await scim.send(method, path, method === "GET" ? undefined : {})).toMatchObject({ status: 501, body: { status: "501" } });
    const searched = await scim.send("POST", "/Users/.search", { filter: `userName eq "${person.userName}"`, attributes: ["userName"] });
    expect(searched.body.Resources).toEqual([{ schemas: person.schemas, id: person.id, userName: person.userName }]);
    const none = await scim.send("GET", "/Users?count=0&startIndex=-4");
    expect([none.body.Resources, none.body.startIndex, none.body.totalResults]).toEqual([[], 1, page.body.totalResults]);
    const put = await scim.send("PUT", `/Users/${person.id}`, { ...person, title: "Engineer", active: false, password: "ignored" });
    expect([put.status, put.body.title, put.body.active]).toEqual([200, "Engineer", false]);
    const without = await scim.send("PUT", `/Users/${person.id}`, { schemas: [USER], userName: person.userName, active: true });
    expect([without.body.title, without.body.externalId, without.body.active]).toEqual([undefined, undefined, true]);
  });
});

describe("invalid SCIM requests", () => {
  test("are refused in SCIM's error format, and change nothing", async () => {
    const person = await newUser();
    const path = `/Users/${person.id}`;
    for (const [method, to, body, status, scimType] of [
      ["POST", "/Users", { schemas: [USER] }, 400, "invalidValue"],
      ["POST", "/Users", { userName: 7 }, 400, "invalidValue"],
      ["POST", "/Groups", {}, 400, "invalidValue"],
      ["PATCH", path, {}, 400, "invalidSyntax"],
      ["PATCH", path, patchOf({ op: "move", path: "active" }), 400, "invalidSyntax"],
      ["PATCH", path, patchOf({ op: "replace", path: "active", value: "perhaps" }), 400, "invalidValue"],
      ["PATCH", path, patchOf({ op: "remove" }), 400, "noTarget"],
      ["PATCH", path, patchOf({ op: "remove", path: "userName" }), 400, "mutability"],
      ["PATCH", path, patchOf({ op: "replace", path: "emails[", value: "x" }), 400, "invalidPath"],
      [
        "PATCH",
        path,
        patchOf({ op: "replace", path: "displayName", value: "half" }, { op: "replace", path: "active", value: {} }),
        400,
        "invalidValue",
      ],
      ["GET", `/Users?filter=${encodeURIComponent("nothing eq 1")}`, undefined, 400, "invalidFilter"],
      ["GET", `/Users?filter=${encodeURIComponent("(".repeat(3_000))}`, undefined, 400, "invalidFilter"],
      ["GET", `/Users?filter=${encodeURIComponent('userName eq "')}`, undefined, 400, "invalidFilter"],
      ["GET", `/Users?filter=${encodeURIComponent('meta.created gt "now"')}`, undefined, 400, "invalidFilter"],
      ["GET", "/Users?count=many", undefined, 400, "invalidValue"],
      ["PUT", "/Users", {}, 405, undefined],
      ["POST", "/Schemas", {}, 405, undefined],
      ["GET", "/Nothing", undefined, 404, undefined],
      ["GET", "/Users/not-an-id", undefined, 404, undefined],
      ["DELETE", "/Users/a%00b", undefined, 404, undefined],
      ["PUT", "/Groups/a%00b", { displayName: "x" }, 404, undefined],
    ] as const) {
      const answer = await scim.send(method, to, body);
      expect([method, to.slice(0, 60), body, answer.status, answer.body.scimType, answer.body.status]).toEqual([
        method,
        to.slice(0, 60),
        body,
        status,
        scimType,
        String(status),
      ]);
    }
    const now = await scim.send("GET", path);
    expect([now.body.displayName, now.headers.get("etag")]).toEqual([undefined, 'W/"1"']);
    expect((await scim.send("PATCH", path, patchOf({ op: "add", path: "title", value: "x" }), { "if-match": 'W/"7"' })).status).toBe(412);
    expect((await scim.send("PATCH", path, patchOf({ op: "add", path: "title", value: "x" }), { "if-match": 'W/"1"' })).status).toBe(200);
  });

  test("with filters on times at the ends of the calendar are answered in any time zone", async () => {
    const found = async (filter: string) =>
      (await scim.send("GET", `/Users?count=0&filter=${encodeURIComponent(filter)}`)).body.totalResults;
    const all = await found("id pr");
    for (const since of ["0000-01-01T00:00:00Z", "0001-01-01T00:00:00+10:00"]) expect(await found(`meta.created gt "${since}"`)).toBe(all);
    expect(await found('meta.created lt "9999-12-31T23:59:59-14:00"')).toBe(all);
  });

  test("with names of JavaScript's built-in properties are treated as unknown attributes", async () => {
    const person = await newUser();
    const patched = await scim.send(
      "PATCH",
      `/Users/${person.id}`,
      patchOf(
        { op: "add", path: "__proto__.polluted", value: "yes" },
        { op: "add", path: "constructor.prototype.polluted", value: "yes" },
        { op: "add", value: JSON.parse('{"__proto__":{"polluted":"yes"},"name":{"__proto__":{"polluted":"yes"}}}') },
      ),
    );
    expect([200, 400]).toContain(patched.status);
    expect((await scim.send("GET", "/ServiceProviderConfig")).body.polluted).toBeUndefined();
    expect(JSON.stringify((await scim.send("GET", `/Users/${person.id}`)).body)).not.toContain("polluted");
  });
});

test("the SCIM discovery documents describe what is served", async () => {
  const config = (await scim.send("GET", "/ServiceProviderConfig")).body;
  expect([config.patch.supported, config.bulk.supported, config.filter]).toEqual([true, false, { supported: true, maxResults: 200 }]);
  const schemas = (await scim.send("GET", "/Schemas")).body;
  expect(schemas.Resources.map(({ id }: any) => id)).toEqual([USER, ENTERPRISE, GROUP]);
  expect((await scim.send("GET", `/Schemas/${USER}`)).body.attributes.length).toBeGreaterThan(10);
  expect((await scim.send("GET", "/ResourceTypes/Group")).body.schema).toBe(GROUP);
});

test("a SCIM resource requested with its current version answers 304", async () => {
  const person = await newUser();
  const ask = (version: string) =>
    fetch(`${world.gateway.adminUrl}/scim/v2/Users/${person.id}`, {
      headers: { authorization: `Bearer ${token}`, "if-none-match": version },
    });
  const known = await ask(person.meta.version);
  expect([known.status, known.headers.get("etag"), await known.text()]).toEqual([304, person.meta.version, ""]);
  expect((await ask('W/"0"')).status).toBe(200);
});

test("a username with invisible or bidirectional characters is refused, and removed from a display name", async () => {
  for (const userName of ["\u202enimda", "ad\u200bmin", "admin\ufe0f", "admin\u3164"])
    expect((await scim.send("POST", "/Users", { schemas: [USER], userName })).status).toBe(400);
  const shown = await newUser({ displayName: "\u202eadA" });
  expect(shown.displayName).toBe("\u202eadA");
  expect((await world.admin.get(`/v1/admin/end-users/${shown.id}?tenant_id=default`)).display_name).toBe("adA");
});
