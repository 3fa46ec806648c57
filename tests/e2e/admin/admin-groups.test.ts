import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { controlPlane, newTenant, type ControlPlane, type Reply, type TenantWithAdmin } from "./admin-harness.ts";

const PATH = "/v1/admin/resource-groups";
let plane: ControlPlane;
let acme: TenantWithAdmin;

beforeAll(async () => {
  plane = await controlPlane();
  acme = await newTenant(plane, "acme");
});
afterAll(() => plane.close());

async function group(name: string, parent?: string, more: object = {}): Promise<string> {
  const made = await acme.send("POST", PATH, { name, ...(parent === undefined ? {} : { parent_group_id: parent }), ...more });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return made.body.id;
}

const names = (reply: Reply) => reply.body.resource_groups.map((one: { name: string }) => one.name);

describe("the tree of resource groups", () => {
  test("lists ancestors, descendants and hierarchy; a group with children cannot be deleted", async () => {
    const root = await group("root", undefined, { group_type: "organization" });
    const left = await group("left", root);
    const right = await group("right", root);
    const leaf = await group("leaf", left);
    expect(names(await acme.send("GET", `${PATH}/${leaf}/ancestors`))).toEqual(["root", "left"]);
    expect(names(await acme.send("GET", `${PATH}/${root}/descendants`))).toEqual(["left", "right", "leaf"]);
    const tree = (await acme.send("GET", `${PATH}/${root}/hierarchy`)).body.hierarchy;
    expect(tree.children.map((child: { name: string; children: unknown[] }) => [child.name, child.children.length])).toEqual([
      ["left", 1],
      ["right", 0],
    ]);
    expect(tree.children[0].children[0].id).toBe(leaf);
    expect(names(await acme.send("GET", `${PATH}?parent_id=${root}`))).toEqual(["left", "right"]);
    expect(names(await acme.send("GET", `${PATH}?parent_id=root&group_type=organization`))).toEqual(["root"]);

    const refused = await acme.send("DELETE", `${PATH}/${left}`);
    expect([refused.status, refused.body.code]).toEqual([409, "in_use"]);
    expect(refused.body.detail).toContain("1 child group");
    for (const id of [leaf, left, right, root]) expect((await acme.send("DELETE", `${PATH}/${id}`)).status).toBe(204);
  });

  test("requires an existing parent and unique names", async () => {
    const orphan = await acme.send("POST", PATH, { name: "orphan", parent_group_id: crypto.randomUUID() });
    expect([orphan.status, orphan.body.fields[0].field]).toEqual([400, "parent_group_id"]);
    const id = await group("once");
    const twin = await acme.send("POST", PATH, { name: "once" });
    expect([twin.status, twin.body.existing_id]).toEqual([409, id]);
    const other = await group("other");
    const renamed = await acme.send("PATCH", `${PATH}/${other}`, { name: "once" });
    expect([renamed.status, renamed.body.existing_id]).toEqual([409, id]);
    expect((await acme.send("PATCH", `${PATH}/${id}`, { name: "once" })).status).toBe(200);
  });

  test("refuses a move that would make a cycle", async () => {
    const a = await group("cycle-a");
    const b = await group("cycle-b", a);
    const c = await group("cycle-c", b);
    for (const parent of [a, b, c]) {
      const refused = await acme.send("PATCH", `${PATH}/${a}`, { parent_group_id: parent });
      expect([refused.status, refused.body.code]).toEqual([400, "cycle"]);
    }
    expect((await acme.send("PATCH", `${PATH}/${c}`, { parent_group_id: null })).body.parent_group_id).toBeNull();
    expect((await acme.send("PATCH", `${PATH}/${a}`, { parent_group_id: c })).status).toBe(200);
  });

  test("has no cycle after concurrent moves that would make one together", async () => {
    const ring = await Promise.all(Array.from({ length: 8 }, (_, index) => group(`ring-${index}`)));
    const moves = await Promise.all(
      ring.map((id, index) => acme.send("PATCH", `${PATH}/${id}`, { parent_group_id: ring[(index + 1) % ring.length] })),
    );
    expect(moves.filter((move) => move.status === 200).length).toBe(7);
    expect(moves.filter((move) => move.body.code === "cycle").length).toBe(1);
    const roots = await acme.send("GET", `${PATH}?parent_id=root&search=ring-`);
    expect(roots.body.total).toBe(1);
    expect((await acme.send("GET", `${PATH}/${roots.body.resource_groups[0].id}/descendants`)).body.total).toBe(7);
  });

  test("never keeps a child whose parent is deleted at the same moment", async () => {
    for (let round = 0; round < 5; round++) {
      const parent = await group(`parent-${round}`);
      const [child, gone] = await Promise.all([
        acme.send("POST", PATH, { name: `child-${round}`, parent_group_id: parent }),
        acme.send("DELETE", `${PATH}/${parent}`),
      ]);
      expect([
        [201, 409],
        [400, 204],
      ]).toContainEqual([child.status, gone.status]);
    }
  });

  test("has at most 32 levels", async () => {
    let parent = await group("deep-1");
    for (let level = 2; level <= 32; level++) parent = await group(`deep-${level}`, parent);
    const refused = await acme.send("POST", PATH, { name: "deep-33", parent_group_id: parent });
    expect([refused.status, refused.body.fields[0].field]).toEqual([400, "parent_group_id"]);
  });
});

describe("models of a resource group", () => {
  test("are bound, inherited, hidden from the portal and unbound", async () => {
    await acme.send("POST", "/v1/admin/providers", { provider_key: "p", api_format: "echo" });
    const [one, two, three] = await Promise.all(
      ["one", "two", "vendor/three"].map(
        async (name) => (await acme.send("POST", "/v1/admin/llms", { name, provider: "p" })).body.id as string,
      ),
    );
    const top = await group("models-top");
    const mid = await group("models-mid", top);
    const cut = await group("models-cut", mid, { inherit_resources: false });
    const bind = (id: string, body: object) => acme.send("POST", `${PATH}/${id}/llm-models`, body);

    expect((await bind(top, { model_ids: [one, two] })).body).toEqual({ bound: expect.arrayContaining([one, two]), already_bound: [] });
    const again = await bind(top, { model_ids: [one, two] });
    expect([again.status, again.body.code]).toEqual([409, "already_bound"]);
    expect((await bind(top, { llm_model_ids: [two, three] })).body).toEqual({ bound: [three], already_bound: [two] });
    await bind(mid, { model_ids: [two] });
    await bind(cut, { model_ids: [three] });

    const of = async (id: string) =>
      (await acme.send("GET", `${PATH}/${id}/llm-models`)).body.llm_models.map(
        (model: { name: string; inherited: boolean; bound_group_name: string }) => [model.name, model.inherited, model.bound_group_name],
      );
    expect(await of(mid)).toEqual([
      ["one", true, "models-top"],
      ["two", false, "models-mid"],
      ["vendor/three", true, "models-top"],
    ]);
    expect(await of(cut)).toEqual([["vendor/three", false, "models-cut"]]);
    const paged = await acme.send("GET", `${PATH}/${mid}/llm-models?page_size=2&page=2`);
    expect([paged.body.total, paged.body.llm_models.length]).toEqual([3, 1]);
    const beyond = await acme.send("GET", `${PATH}/${mid}/llm-models?page_size=2&page=9`);
    expect([beyond.body.total, beyond.body.llm_models.length]).toEqual([3, 0]);

    const hidden = await acme.send("PATCH", `${PATH}/${top}/llm-models/vendor%2Fthree/portal-visibility`, { portal_visible: false });
    expect([hidden.status, hidden.body]).toEqual([200, { portal_visible: false }]);
    expect((await acme.send("PATCH", `${PATH}/${top}/llm-models/${one}/portal-visibility`, { portal_visible: false })).status).toBe(200);
    const inheritedOnly = await acme.send("PATCH", `${PATH}/${mid}/llm-models/${one}/portal-visibility`, { portal_visible: false });
    expect([inheritedOnly.status, inheritedOnly.body.code]).toEqual([404, "not_bound"]);

    expect((await acme.send("DELETE", `${PATH}/${top}/llm-models?model_ids=${one},${two}`)).body.unbound.sort()).toEqual([one, two].sort());
    const repeated = await acme.send("DELETE", `${PATH}/${top}/llm-models`, { model_ids: [one] });
    expect([repeated.status, repeated.body.code]).toEqual([404, "not_bound"]);
    const none = await acme.send("DELETE", `${PATH}/${top}/llm-models`);
    expect([none.status, none.body.fields[0].field]).toEqual([400, "model_ids"]);
    const log = (await acme.send("GET", `/v1/admin/admin-log?resource=group-models&resource_id=${top}`)).body.entries;
    expect(log.map((entry: { action: string }) => entry.action)).toEqual(["unbind", "update", "update", "bind", "bind"]);
  });
});
