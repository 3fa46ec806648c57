import { afterAll, beforeAll, expect, test } from "bun:test";
import { controlPlane, newTenant, type ControlPlane } from "./admin-harness.ts";

let plane: ControlPlane;
beforeAll(async () => {
  plane = await controlPlane();
});
afterAll(() => plane.close());

test("only roles that manage knowledge or read call contents may search documents; other roles get 403", async () => {
  const acme = await newTenant(plane, "acme");
  const { id } = (await acme.send("POST", "/v1/admin/knowledgebases", { name: "handbook" })).body;
  const statuses: Record<string, number> = {};
  for (const role of ["admin", "security", "developer", "compliance", "auditor", "viewer"]) {
    const { send } = await newTenant(plane, "acme", role);
    expect((await send("GET", `/v1/admin/knowledgebases/${id}`)).status).toBe(200);
    statuses[role] = (await send("POST", `/v1/admin/knowledgebases/${id}/search`, { query: "salaries" })).status;
  }
  expect(statuses).toEqual({ admin: 200, security: 200, developer: 200, compliance: 403, auditor: 403, viewer: 403 });
});
