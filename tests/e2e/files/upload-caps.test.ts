import { afterAll, beforeAll, expect, test } from "bun:test";
import { newPerson, PASSWORD, type PortalClient, portalClient } from "../../support/worlds/portal.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Complete uploads within the request limit that exceed the limit for their kind. */
let world: World;
let person: PortalClient & { readonly id: string };
let paths: Record<string, string>;

const KIB = 1024;
const MIB = 1024 * KIB;

beforeAll(async () => {
  world = await startWorld();
  person = await newPerson(world.gateway.runtimeUrl, "person");
  const server = await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "tools", base_url: "http://tools.example" });
  const base = await world.admin.post("/v1/admin/knowledgebases", { tenant_id: "default", name: "base" });
  paths = {
    photo: `/v1/admin/end-users/${person.id}/photo`,
    icon: `/v1/admin/mcp-servers/${server.id}/icon`,
    document: `/v1/admin/knowledgebases/${base.id}/documents`,
    inventory: "/v1/admin/discovery/ingest-adapters/cyclonedx",
  };
});
afterAll(() => world.end());

const formOf = (bytes: number): FormData => {
  const form = new FormData();
  form.set("file", new File([new Uint8Array(bytes)], "file.txt"));
  return form;
};

test.each([
  ["photo", 5 * MIB, "5 MB"],
  ["icon", 64 * KIB, "64 KB"],
  ["document", 32 * MIB, "32 MiB"],
  ["inventory", 8 * MIB, "8 MiB"],
] as const)("an administrator's %s of one byte more than %d is refused as too large", async (what, cap, said) => {
  const answer = await fetch(`${world.gateway.adminUrl}${paths[what]}?tenant_id=default`, {
    method: "POST",
    headers: { authorization: `Bearer ${world.admin.token}` },
    body: formOf(cap + 1),
  });
  expect([answer.status, await answer.json()]).toEqual([
    413,
    { detail: `file: is larger than ${said}`, code: "body_too_large", fields: [{ field: "file", message: `is larger than ${said}` }] },
  ]);
});

test("an end user's photo of more than 5 MB is refused as too large, also at registration", async () => {
  const said = (field: string) => ({ status: 413, body: { code: "body_too_large", fields: [{ field, message: "is larger than 5 MB" }] } });
  expect(await person.request("POST", "/auth/profile/photo", formOf(5 * MIB + 1))).toMatchObject(said("file"));
  // The second has more base64 characters than a photo of 5 MB can have.
  for (const bytes of [5 * MIB + 1, 5_280_000]) {
    const registered = await portalClient(world.gateway.runtimeUrl).request("POST", "/auth/register", {
      username: "pictured",
      password: PASSWORD,
      photo_base64: Buffer.alloc(bytes).toString("base64"),
    });
    expect(registered).toMatchObject(said("photo_base64"));
  }
  expect((await world.admin.get("/v1/admin/end-users?tenant_id=default&search=pictured")).total).toBe(0);
});
