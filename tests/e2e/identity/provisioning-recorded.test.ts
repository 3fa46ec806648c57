import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { scimClient } from "../../support/identity/scim.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Requests that two large directories send, one by one, and the answers that their documentation requires. */
interface Exchange {
  readonly what: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly status: number;
  readonly answer?: object;
  /** Later exchanges refer to the new record's ID by this name, in braces. */
  readonly keep?: string;
}

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.end());

const exchangesOf = (directory: string): readonly Exchange[] =>
  JSON.parse(readFileSync(join(import.meta.dir, "..", "..", "corpora", "scim", `${directory}.json`), "utf8")).exchanges;

/** Changes and refusals in order; requests that change nothing are not logged. */
const LOGGED: Readonly<Record<string, readonly string[]>> = {
  entra: [
    ...["POST created", "PATCH changed", "PATCH changed", "PATCH deactivated", "PATCH reactivated", "PATCH changed", "POST conflict"],
    ...["POST created", "PATCH changed", "PATCH changed", "PATCH changed", "PATCH changed", "PATCH changed", "DELETE deleted"],
    ...["PATCH deactivated", "DELETE deleted"],
  ],
  okta: [
    ...["POST created", "POST conflict", "PUT changed", "PATCH deactivated", "PATCH reactivated"],
    ...["POST created", "PATCH changed", "PUT changed", "DELETE deleted", "PUT deactivated"],
  ],
};

test.each(["entra", "okta"])("every request recorded from %s gets the expected response and log entry", async (directory) => {
  const { token } = await world.admin.post("/v1/admin/scim-tokens", { name: directory, directory, tenant_id: "default" });
  const scim = scimClient(world.gateway.adminUrl, token);
  const ids: Record<string, string> = {};
  const filled = <T>(value: T): T => {
    if (value === undefined) return value;
    let text = JSON.stringify(value);
    for (const [name, id] of Object.entries(ids)) text = text.replaceAll(`{${name}}`, id);
    return JSON.parse(text) as T;
  };
  for (const { what, method, path, body, status, answer, keep } of exchangesOf(directory)) {
    const reply = await scim.send(method, filled(path), filled(body), { "user-agent": directory });
    expect([what, reply.status]).toEqual([what, status]);
    if (keep !== undefined) ids[keep] = reply.body.id;
    if (answer !== undefined) expect({ what, ...reply.body }).toMatchObject(filled({ what, ...answer }));
    if (status === 204) expect(reply.body).toBeNull();
    expect(JSON.stringify(reply.body)).not.toContain("1mz050nq");
  }
  const { entries } = await world.admin.get(`/v1/admin/provisioning-log?tenant_id=default&directory=${directory}&limit=200`);
  const logged = entries.map(({ method, outcome }: { method: string; outcome: string }) => `${method} ${outcome}`).toReversed();
  expect(logged).toEqual(LOGGED[directory]);
});
