import { expect, test } from "bun:test";
import { scimClient, USER } from "../../support/identity/scim.ts";
import { startWorld } from "../../support/world.ts";

test("the location of a SCIM resource uses GW_ADMIN_PUBLIC_URL", async () => {
  const world = await startWorld({ GW_ADMIN_PUBLIC_URL: "https://admin.example/" });
  try {
    const { token } = await world.admin.post("/v1/admin/scim-tokens", { name: "Entra", directory: "entra", tenant_id: "default" });
    const made = await scimClient(world.gateway.adminUrl, token).send("POST", "/Users", { schemas: [USER], userName: "ann@x.example" });
    const address = `https://admin.example/scim/v2/Users/${made.body.id}`;
    expect([made.status, made.body.meta.location, made.headers.get("location")]).toEqual([201, address, address]);
  } finally {
    await world.end();
  }
});
