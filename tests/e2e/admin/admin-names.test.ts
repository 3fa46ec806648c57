import { afterAll, beforeAll, expect, test } from "bun:test";
import { z } from "zod";
import { OPERATIONS } from "../../../server/surfaces/admin/routes.ts";
import { controlPlane, newTenant, type ControlPlane, type Send } from "./admin-harness.ts";

/** Names of records appear unchanged in lists, logs and terminals, so they are restricted. */
let plane: ControlPlane;
let owner: Send;

beforeAll(async () => {
  plane = await controlPlane();
  owner = (await newTenant(plane, "acme")).send;
});
afterAll(() => plane.close());

const HOSTILE = ["a\nb", "a\u0000b", "a\u001b[2Jb", "a\u007fb", "a\u0085b", "a\u202eb", "a\u2066b\u2069"];
const HARMLESS = ["Team A", "Équipe n° 5", "فريق\u200f!", "工具", "👩‍🚀", " trimmed \n"];

test("all writable names of records accept the same characters", () => {
  const written = OPERATIONS.flatMap(({ method, path, body }) =>
    body instanceof z.ZodObject && ["POST", "PUT", "PATCH"].includes(method)
      ? ["name", "display_name"].flatMap((member) => {
          const schema = body.shape[member] as z.ZodType | undefined;
          return schema === undefined ? [] : [{ at: `${method} ${path}: ${member}`, schema }];
        })
      : [],
  );
  expect(written.length).toBeGreaterThan(40);
  const takes = (texts: readonly string[]) =>
    written.filter(({ schema }) => texts.some((text) => schema.safeParse(text).success)).map(({ at }) => at);
  expect(takes(HOSTILE)).toEqual([]);
  expect(takes(HARMLESS)).toEqual(written.map(({ at }) => at));
});

test("names with control or bidirectional characters are refused by field; a description may have several lines", async () => {
  for (const [member, path] of [
    ["name", "resource-groups"],
    ["display_name", "resource-groups"],
    ["name", "llms"],
    ["name", "guardrails/configs"],
  ] as const)
    for (const text of HOSTILE) {
      const answer = await owner("POST", `/v1/admin/${path}`, { name: "fine", provider: "echo", ...{ [member]: text } });
      expect([answer.status, answer.body.code]).toEqual([400, "invalid_body"]);
      expect(answer.body.fields.map(({ field }: any) => field)).toContain(member);
    }
  const made = await owner("POST", "/v1/admin/resource-groups", { name: " fine\n", description: "One.\nTwo." });
  expect([made.status, made.body.name, made.body.description]).toEqual([201, "fine", "One.\nTwo."]);
});

test("a record with a name stored before the rule can be read, changed in other fields, and renamed", async () => {
  const { id } = (await owner("POST", "/v1/admin/resource-groups", { name: "old" })).body;
  await plane.directory.db.updateTable("resource_groups").set({ name: "o\nld", display_name: "\u202eold" }).where("id", "=", id).execute();
  const path = `/v1/admin/resource-groups/${id}`;
  const read = (await owner("GET", path)).body;
  expect([read.name, read.display_name]).toEqual(["o\nld", "\u202eold"]);
  expect(await owner("PATCH", path, { description: "x" })).toMatchObject({ status: 200, body: { name: "o\nld", description: "x" } });
  expect(await owner("PATCH", path, { ...read, description: "y" })).toMatchObject({
    status: 200,
    body: { name: "o\nld", description: "y" },
  });
  expect((await owner("PATCH", path, { name: "n\new" })).status).toBe(400);
  expect(await owner("PATCH", path, { name: "new", display_name: null })).toMatchObject({ status: 200, body: { name: "new" } });
});
