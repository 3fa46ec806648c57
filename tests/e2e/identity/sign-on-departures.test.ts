import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { newPerson } from "../../support/worlds/portal.ts";
import { patchOf, scimClient } from "../../support/identity/scim.ts";
import {
  arriveAtPage,
  makeSignOnProvider,
  signInByProvider,
  type SignOnAudience,
  type SignOnClaims,
  type SignedInPage,
  type SignOnProviderRecord,
} from "../../support/identity/sign-on-pages.ts";
import { startSigningIssuer, type SigningIssuer } from "../../support/identity/signing-issuer.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

/** People whom the identity provider would no longer admit lose access at once, and nobody else does. */

let world: World;
let issuer: SigningIssuer;

beforeAll(async () => {
  world = await startWorld({ GW_PROCESSES: "2" });
  issuer = await startSigningIssuer();
});
afterAll(async () => {
  await world.end();
  await issuer.stop();
});

const make = (audience: SignOnAudience, more: Record<string, unknown> = {}) => makeSignOnProvider(world, issuer, audience, more);
const change = (id: string, body: object) => world.admin.request("PATCH", `/v1/admin/identity-providers/${id}`, body);
let people = 0;
const newSub = () => `person-${++people}`;

/** Opens a portal event stream; `ended` resolves with its text once it has ended. */
async function eventsOf(token: string): Promise<{ ended: Promise<unknown> }> {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/portal/events`, { headers: { authorization: `Bearer ${token}` } });
  expect(response.status).toBe(200);
  return { ended: response.text() };
}

const isOut = (page: { works(): Promise<boolean> }) =>
  until(
    () => page.works(),
    (works) => !works,
  );

describe.each(["portal", "admin"] as const)("sign-on at the %s", (audience) => {
  const arrive = (provider: SignOnProviderRecord, claims: SignOnClaims) => signInByProvider(world, issuer, provider, claims);

  test("ends the sessions of a disabled identity provider's people, and no others", async () => {
    const [provider, other] = [await make(audience), await make(audience)];
    const [page, neighbour] = [await arrive(provider, { sub: newSub() }), await arrive(other, { sub: newSub() })];
    expect((await change(provider.id, { name: `Renamed ${crypto.randomUUID()}` })).status).toBe(200);
    expect(await page.works()).toBe(true);
    expect((await change(provider.id, { enabled: false })).status).toBe(200);
    await isOut(page);
    expect([await page.renews(), await neighbour.works(), await neighbour.renews()]).toEqual([false, true, true]);
    await change(provider.id, { enabled: true });
    expect([await page.works(), await page.renews()]).toEqual([false, false]);
  });

  test("ends the sessions of a deleted identity provider's people, and no others", async () => {
    const [provider, other] = [await make(audience), await make(audience)];
    const [page, neighbour] = [await arrive(provider, { sub: newSub() }), await arrive(other, { sub: newSub() })];
    expect((await world.admin.request("DELETE", `/v1/admin/identity-providers/${provider.id}`)).status).toBe(204);
    await isOut(page);
    expect([await page.renews(), await neighbour.works(), await neighbour.renews()]).toEqual([false, true, true]);
  });

  test.each<[what: string, more: Record<string, unknown>, narrower: object, wider: object]>([
    ["a change of the required group", { required_group: "all" }, { required_group: "few" }, { required_group: null }],
    [
      "a removal of allowed domains",
      { allowed_domains: ["a.example", "b.example"] },
      { allowed_domains: ["a.example"] },
      { allowed_domains: [] },
    ],
  ])("ends the sessions of people no longer admitted after %s, and none after a wider setting", async (_what, more, narrower, wider) => {
    const claims = { sub: newSub(), email: "one@b.example" };
    const provider = await make(audience, more);
    const page = await arrive(provider, claims);
    expect((await change(provider.id, wider)).status).toBe(200);
    expect(await page.works()).toBe(true);
    expect((await change(provider.id, narrower)).status).toBe(200);
    await isOut(page);
    expect(await page.renews()).toBe(false);
    expect((await arriveAtPage(world, issuer, provider, claims)).status).toBe(403);
  });

  test("ends a person's earlier sessions when they sign in again without the required group", async () => {
    const provider = await make(audience, { required_group: "all" });
    const [sub, neighbour] = [newSub(), await arrive(provider, { sub: newSub() })];
    const page = await arrive(provider, { sub });
    const tooMany = { groups: undefined, _claim_names: { groups: "elsewhere" } };
    expect((await arriveAtPage(world, issuer, provider, { sub, ...tooMany })).status).toBe(403);
    expect(await page.works()).toBe(true);
    expect((await arriveAtPage(world, issuer, provider, { sub, groups: ["others"] })).status).toBe(403);
    await isOut(page);
    expect([await page.renews(), await neighbour.works()]).toEqual([false, true]);
    const back = await arrive(provider, { sub });
    expect(await back.works()).toBe(true);
  });
});

test("disabling an identity provider ends its people's streams at once, and not those of people with a password", async () => {
  const provider = await make("portal");
  const local = await newPerson(world.gateway.runtimeUrl, "local");
  const page = await signInByProvider(world, issuer, provider, { sub: newSub() });
  const streams = await Promise.all([1, 2, 3, 4].map(() => eventsOf(page.token)));
  let localEnded = false;
  void (await eventsOf(local.token ?? "")).ended.then(() => (localEnded = true));
  const before = Date.now();
  await change(provider.id, { enabled: false });
  await Promise.all(streams.map(({ ended }) => ended));
  expect(Date.now() - before).toBeLessThan(5_000);
  expect((await local.request("GET", "/auth/profile")).status).toBe(200);
  expect(localEnded).toBe(false);
});

test("an administrator whose role comes from a group is signed out when the mapping of that group changes", async () => {
  const provider = await make("admin", {
    group_mappings: [
      { group: "all", role: "admin" },
      { group: "few", role: "viewer" },
    ],
  });
  const page = await signInByProvider(world, issuer, provider, { sub: newSub() });
  const more = [
    { group: "few", role: "viewer" },
    { group: "all", role: "admin" },
    { group: "new", role: "auditor" },
  ];
  await change(provider.id, { group_mappings: more });
  expect(await page.works()).toBe(true);
  await change(provider.id, { group_mappings: more.map((one) => (one.group === "all" ? { ...one, role: "viewer" } : one)) });
  expect([await page.works(), await page.renews()]).toEqual([false, false]);
});

test("setting scim_directory signs out an identity provider's administrators, but not the portal's people", async () => {
  const [portal, admin] = [await make("portal"), await make("admin")];
  const pages = [
    await signInByProvider(world, issuer, portal, { sub: newSub() }),
    await signInByProvider(world, issuer, admin, { sub: newSub() }),
  ];
  for (const { id } of [portal, admin]) expect((await change(id, { scim_directory: "people" })).status).toBe(200);
  expect(await Promise.all(pages.map((page) => page.works()))).toEqual([true, false]);
});

test("a person removed from a required or role-giving group of the directory is signed out, and nobody else", async () => {
  const { token } = await world.admin.post("/v1/admin/scim-tokens", { tenant_id: "default", name: "d", directory: "groups" });
  const scim = scimClient(world.gateway.adminUrl, token);
  const portal = await make("portal", { scim_directory: "groups", required_group: "staff-id" });
  const admin = await make("admin", { scim_directory: "groups", group_mappings: [{ group: "Operators", role: "viewer" }] });
  const groups = ["staff-id", "Operators"];
  const [leaver, stayer] = [newSub(), newSub()];
  const ids: string[] = [];
  for (const sub of [leaver, stayer])
    ids.push((await scim.send("POST", "/Users", { userName: `${sub}@example.com`, externalId: sub })).body.id);
  const groupOf = async (displayName: string, externalId: string) =>
    (await scim.send("POST", "/Groups", { displayName, externalId, members: ids.map((value) => ({ value })) })).body.id as string;
  const [staff, operators, others] = [
    await groupOf("Staff", "staff-id"),
    await groupOf("Operators", "o-id"),
    await groupOf("Others", "x-id"),
  ];
  const pages: SignedInPage[] = [];
  for (const provider of [portal, admin])
    for (const sub of [leaver, stayer]) pages.push(await signInByProvider(world, issuer, provider, { sub, groups }));
  const works = () => Promise.all(pages.map((page) => page.works()));
  const takeOut = (group: string) =>
    scim.send("PATCH", `/Groups/${group}`, patchOf({ op: "remove", path: `members[value eq "${ids[0]}"]` }));
  await takeOut(others);
  expect(await works()).toEqual([true, true, true, true]);
  await takeOut(staff);
  await isOut(pages[0] as SignedInPage);
  expect(await works()).toEqual([false, true, true, true]);
  await takeOut(operators);
  expect(await works()).toEqual([false, true, false, true]);
  expect((await scim.send("DELETE", `/Groups/${staff}`)).status).toBe(204);
  await isOut(pages[1] as SignedInPage);
  expect(await works()).toEqual([false, false, false, true]);
});
