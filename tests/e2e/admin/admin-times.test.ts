import { expect, test } from "bun:test";
import { controlPlane, newTenant } from "./admin-harness.ts";

test("run statistics refuse times outside the years 1 to 9999 in UTC", async () => {
  const plane = await controlPlane();
  const { send } = await newTenant(plane, "acme");
  const { id } = (await send("POST", "/v1/admin/resource-groups", { name: "team" })).body;
  const until = async (path: string, to: string) => {
    const { status, body } = await send("GET", `/v1/admin/ai-systems/${id}/runs/${path}?to=${encodeURIComponent(to)}`);
    return [status, body.code ?? null];
  };
  for (const path of ["stats", "timeseries"]) {
    for (const none of ["0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "0001-01-01T00:00:00Z"])
      expect([none, ...(await until(path, none))]).toEqual([none, 400, "invalid_query"]);
    for (const edge of ["0001-01-01T05:30:00Z", "9999-12-31T23:59:59Z"])
      expect([edge, ...(await until(path, edge))]).toEqual([edge, 200, null]);
  }
  await plane.close();
});
