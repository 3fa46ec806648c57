import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { startWorld, type World } from "../../support/world.ts";

/** A Python with two test suites for SCIM servers. It is not an npm package: .ci/run installs it. */
const PYTHON = process.env.SCIM_PYTHON;

if (PYTHON === undefined)
  console.log(
    "The suites for provisioning are left out: SCIM_PYTHON names no Python that has them (python3 -m venv DIR && DIR/bin/pip install -r tests/e2e/identity/scim-python.txt).",
  );
else {
  let world: World;
  let token: string;
  beforeAll(async () => {
    world = await startWorld();
    ({ token } = await world.admin.post("/v1/admin/scim-tokens", { name: "suite", directory: "suite", tenant_id: "default" }));
  });
  afterAll(() => world.end());

  const printed = async (command: string, args: readonly string[]): Promise<string> => {
    const run = Bun.spawn([join(PYTHON, "..", command), ...args], {
      env: { ...process.env, NO_COLOR: "1", SCIM_CLI_HEADERS: `Authorization: Bearer ${token}` },
      stdout: "pipe",
      stderr: "inherit",
    });
    const [text] = await Promise.all([new Response(run.stdout).text(), run.exited]);
    return text;
  };
  const base = () => `${world.gateway.adminUrl}/scim/v2`;

  test("the scim2 test suite reports only the known deviations from the RFC", async () => {
    const said = await printed("scim2", ["--url", base(), "test"]);
    const outcomes = [...said.matchAll(/^([A-Z]+) (\w+)\n {2}(.*)$/gm)].map(([, outcome, check, why]) => ({ outcome, check, why }));
    expect(outcomes.filter(({ outcome }) => outcome === "SUCCESS").length).toBeGreaterThan(110);
    expect(outcomes.filter(({ outcome }) => outcome !== "SUCCESS" && outcome !== "SKIPPED")).toEqual([
      // `active` is always true or false, so it cannot be removed.
      { outcome: "ERROR", check: "check_remove_attribute", why: "PATCH modify() did not remove attribute 'active'" },
      // The suite adds nonexistent people: they are logged and do not become members.
      { outcome: "ERROR", check: "check_add_attribute", why: "Attribute 'members' was not added or has unexpected value" },
      { outcome: "ERROR", check: "check_replace_attribute", why: "Attribute 'members' was not replaced or has unexpected value" },
    ]);
  });

  test("the scim-sanity probe reports only that PATCH of a group answers 204", async () => {
    const said = await printed("scim-sanity", ["probe", base(), "--token", token, "--i-accept-side-effects", "--json-output"]);
    const { results } = JSON.parse(said) as { results: { name: string; status: string; message: string }[] };
    expect(results.filter(({ status }) => status === "pass").length).toBeGreaterThan(20);
    const failed = results.filter(({ status }) => status === "fail");
    expect(failed.map(({ name }) => name)).toEqual([
      "PATCH /Groups/{id}",
      "PATCH /Groups/{id} add member",
      "PATCH /Groups/{id} remove members",
    ]);
    for (const { message } of failed) expect(message).toContain("got 204");
  });
}
