import { afterAll, beforeAll, expect, test } from "bun:test";
import { controlPlane, newTenant, type ControlPlane, type Send } from "./admin-harness.ts";

let plane: ControlPlane;
let owner: Send;

beforeAll(async () => {
  plane = await controlPlane();
  owner = (await newTenant(plane, "acme")).send;
});

afterAll(() => plane.close());

test("a tool server is not left to be called with a key it does not have", async () => {
  const { id } = (await owner("POST", "/v1/admin/mcp-servers", { name: "s", base_url: "http://s.example" })).body;
  const patch = (body: object) => owner("PATCH", `/v1/admin/mcp-servers/${id}`, body);
  const refused = [400, "api_key"];
  const unkeyed = await patch({ auth_type: "bearer" });
  expect([unkeyed.status, unkeyed.body.fields?.[0].field]).toEqual(refused);
  expect((await patch({ auth_type: "bearer", api_key: "the-key-of-the-server" })).body).toMatchObject({ auth_type: "bearer", has_api_key: true });
  const taken = await patch({ api_key: null });
  expect([taken.status, taken.body.fields?.[0].field]).toEqual(refused);
  expect((await patch({ auth_type: "none", api_key: null })).body).toMatchObject({ auth_type: "none", has_api_key: false });
});
