import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Snapshots } from "../../../server/directory/snapshots.ts";
import { compileStoredPolicy } from "../../../server/controls/argument-policies/stored-policy.ts";
import { toolSpelling } from "../../../server/kernel/text/folded-name.ts";
import { jsonLog } from "../../../server/kernel/log.ts";
import { controlPlane, newTenant, type ControlPlane, type TenantWithAdmin } from "./admin-harness.ts";
import { judged as verdictOf } from "../../support/vendors/judged.ts";

const PATH = "/v1/admin/argument-policies";
const SQL = { target: "run_query", argument_key: "sql", analyzer: "sql", rules: [{ deny_if: "writes", message: "Reads only." }] };

let plane: ControlPlane;
let acme: TenantWithAdmin;
let beta: TenantWithAdmin;
let tree: { readonly root: string; readonly leaf: string; readonly other: string };
let made = 0;

beforeAll(async () => {
  plane = await controlPlane();
  acme = await newTenant(plane, "acme");
  beta = await newTenant(plane, "beta");
  const group = async (name: string, parent_group_id?: string) =>
    (await acme.send("POST", "/v1/admin/resource-groups", { name, ...(parent_group_id === undefined ? {} : { parent_group_id }) })).body
      .id as string;
  const root = await group("root");
  tree = { root, leaf: await group("leaf", root), other: await group("other") };
});

afterAll(() => plane.close());

async function create(given: object = {}): Promise<any> {
  const reply = await acme.send("POST", PATH, { name: `policy ${made++}`, ...SQL, ...given });
  expect([reply.status, reply.body.detail]).toEqual([201, undefined]);
  return reply.body;
}

/** What the group's policies say about a query, evaluated as for a call of the group. */
async function judged(groupId: string, sql: string): Promise<string | null> {
  const scope = await new Snapshots(plane.directory.db, plane.directory.secrets, compileStoredPolicy, jsonLog("error")).scope(
    "acme",
    groupId,
  );
  const [policy] = scope?.toolCallPolicies.get(toolSpelling("run_query")) ?? [];
  return policy === undefined ? null : (verdictOf(policy, JSON.stringify({ sql }))?.message ?? "passes");
}

describe("an argument policy", () => {
  test("can be tried on arguments before it is bound or while disabled, and a costly schema does not stall the trial", async () => {
    const { id } = await create({ enabled: false });
    const trial = async (text: string) => (await acme.send("POST", `${PATH}/${id}/test`, { arguments: text })).body;
    expect(await trial('{"sql":"select 1"}')).toEqual({ action: "none", rule: null, message: null });
    expect(await trial('{"sql":"delete from t"}')).toEqual({ action: "deny", rule: "writes", message: "Reads only." });
    expect((await trial('{"sql":')).rule).toBe("unparseable");
    expect((await trial(JSON.stringify({ sql: "x".repeat(280_000) }))).action).toBe("deny");
    expect((await beta.send("POST", `${PATH}/${id}/test`, { arguments: "{}" })).status).toBe(404);
    const nothing = await acme.send("POST", `${PATH}/${id}/test`, {});
    expect([nothing.status, JSON.stringify(nothing.body)]).toEqual([400, expect.stringContaining("arguments")]);
    const watching = await create({
      analyzer: "json_schema",
      argument_key: null,
      severity: "warn",
      schema: { type: "object", properties: { n: { type: "string", pattern: "^(a+)+$" } } },
      rules: [{ deny_if: "invalid", message: "No." }],
    });
    const costly = await acme.send("POST", `${PATH}/${watching.id}/test`, { arguments: JSON.stringify({ n: `${"a".repeat(50_000)}b` }) });
    expect(costly.body).toMatchObject({ action: "warn", rule: "invalid" });
  });

  test("is read back, listed and deleted as written, with defaults for omitted fields", async () => {
    const policy = await create({
      description: "Reads only",
      severity: "warn",
      dialect: "mysql",
      read_functions: ["lookup"],
      group_ids: [tree.root],
    });
    expect(policy).toMatchObject({
      ...SQL,
      surface: "llm_output_tool_calls",
      severity: "warn",
      enabled: true,
      dialect: "mysql",
      read_functions: ["lookup"],
      schema: null,
      group_ids: [tree.root],
    });
    expect(await create()).toMatchObject({ severity: "deny", dialect: null, read_functions: null, group_ids: null });
    const read = await acme.send("GET", `${PATH}/${policy.id}`);
    expect(read.body).toEqual(policy);
    const { body } = await acme.send("GET", `${PATH}?search=${encodeURIComponent(policy.name)}&target=run_query`);
    expect(body.argument_policies).toEqual([policy]);
    expect((await acme.send("GET", `${PATH}?target=walk`)).body.total).toBe(0);
    await acme.send("DELETE", `${PATH}/${policy.id}`);
    expect((await acme.send("GET", `${PATH}/${policy.id}`)).status).toBe(404);
  });

  test("with a name that is taken is refused with 409 and the existing policy's ID; other tenants may use the name", async () => {
    const policy = await create();
    const twin = await acme.send("POST", PATH, { ...SQL, name: policy.name });
    expect([twin.status, twin.body.code, twin.body.existing_id]).toEqual([409, "conflict", policy.id]);
    expect((await beta.send("POST", PATH, { ...SQL, name: policy.name })).status).toBe(201);
  });

  const broken: readonly (readonly [object, readonly string[]])[] = [
    [{ analyzer: "guess" }, ["analyzer"]],
    [{ surface: "chat_input" }, ["surface"]],
    [{ severity: "log" }, ["severity"]],
    [{ target: "" }, ["target"]],
    [{ rules: [] }, ["rules"]],
    [{ rules: [{ deny_if: "chaining", message: "x" }] }, ["rules.0.deny_if"]],
    [
      {
        rules: [
          { deny_if: "writes", message: "x" },
          { deny_if: "tables", message: "x" },
        ],
      },
      ["rules.1.values"],
    ],
    [{ rules: [{ deny_if: "writes", message: " " }] }, ["rules.0.message"]],
    [{ rules: [{ deny_if: "writes", message: "x", values: ["y"], more: 1 }] }, ["rules.0.more"]],
    [{ argument_key: null }, ["argument_key"]],
    [{ dialect: "db2" }, ["dialect"]],
    [{ schema: { type: "object" } }, ["schema"]],
    [{ analyzer: "json_schema", schema: { type: "nonsense" }, rules: [{ deny_if: "invalid", message: "x" }] }, ["schema"]],
    [{ analyzer: "shell", dialect: "mysql", rules: [{ deny_if: "guess", message: "x" }] }, ["rules.0.deny_if", "dialect"]],
    [{ group_ids: [crypto.randomUUID()] }, ["group_ids"]],
  ];
  test.each(broken)("with %j is refused, naming the field", async (given, fields) => {
    const reply = await acme.send("POST", PATH, { name: "broken", ...SQL, ...given });
    expect([reply.status, reply.body.code, reply.body.fields.map(({ field }: { field: string }) => field)]).toEqual([
      400,
      "invalid_body",
      [...fields],
    ]);
    const policy = await create();
    const patched = await acme.send("PATCH", `${PATH}/${policy.id}`, given);
    expect([patched.status, patched.body.fields.map(({ field }: { field: string }) => field)]).toEqual([400, [...fields]]);
    expect((await acme.send("GET", `${PATH}/${policy.id}`)).body).toEqual(policy);
  });

  test("is changed by PATCH only in the fields given; a new analyzer drops the settings of the old one", async () => {
    const policy = await create({ dialect: "mysql" });
    expect((await acme.send("PATCH", `${PATH}/${policy.id}`, { enabled: false })).body).toMatchObject({
      ...SQL,
      dialect: "mysql",
      enabled: false,
    });
    const shell = await acme.send("PATCH", `${PATH}/${policy.id}`, {
      analyzer: "shell",
      rules: [{ deny_if: "chaining", message: "One command." }],
    });
    expect(shell.body).toMatchObject({ analyzer: "shell", dialect: null, argument_key: "sql" });
    const schema = await acme.send("PATCH", `${PATH}/${policy.id}`, {
      analyzer: "json_schema",
      argument_key: null,
      schema: { type: "object" },
      rules: [{ deny_if: "invalid", message: "No." }],
    });
    expect(schema.body).toMatchObject({ analyzer: "json_schema", argument_key: null, schema: { type: "object" } });
    // Changing only the analyzer is refused, because it does not support the existing rules.
    expect((await acme.send("PATCH", `${PATH}/${policy.id}`, { analyzer: "url" })).body.fields[0].field).toBe("rules.0.deny_if");
  });

  test("applies to the groups it is bound to and their descendants, from the next call on", async () => {
    const policy = await create({ group_ids: [tree.root] });
    for (const { id } of (await acme.send("GET", PATH)).body.argument_policies)
      if (id !== policy.id) await acme.send("DELETE", `${PATH}/${id}`);
    expect(await judged(tree.root, "DELETE FROM t")).toBe("Reads only.");
    expect(await judged(tree.leaf, "DELETE FROM t")).toBe("Reads only.");
    expect(await judged(tree.leaf, "SELECT 1")).toBe("passes");
    expect(await judged(tree.other, "DELETE FROM t")).toBeNull();
    await acme.send("PATCH", `${PATH}/${policy.id}`, { group_ids: null });
    expect(await judged(tree.other, "DELETE FROM t")).toBe("Reads only.");
    await acme.send("PATCH", `${PATH}/${policy.id}`, { group_ids: [] });
    expect(await judged(tree.root, "DELETE FROM t")).toBeNull();
    await acme.send("PATCH", `${PATH}/${policy.id}`, { group_ids: null, enabled: false });
    expect(await judged(tree.root, "DELETE FROM t")).toBeNull();
  });
});

describe("group bindings of an argument policy", () => {
  test("are added and removed once; repeats answer 409 already_bound or 404 not_bound", async () => {
    const policy = await create();
    const at = `${PATH}/${policy.id}/groups`;
    const bound = async () => (await acme.send("GET", `${PATH}/${policy.id}`)).body.group_ids;
    const first = await acme.send("POST", at, { group_ids: [tree.leaf] });
    expect([first.status, first.body]).toEqual([200, { bound: [tree.leaf], already_bound: [] }]);
    expect(await bound()).toEqual([tree.leaf]);
    expect((await acme.send("POST", at, { group_ids: [tree.leaf, tree.other] })).body).toEqual({
      bound: [tree.other],
      already_bound: [tree.leaf],
    });
    const again = await acme.send("POST", at, { group_ids: [tree.leaf] });
    expect([again.status, again.body.code]).toEqual([409, "already_bound"]);
    const strange = await acme.send("POST", at, { group_ids: [crypto.randomUUID()] });
    expect([strange.status, strange.body.fields[0].field]).toEqual([400, "group_ids"]);
    expect((await acme.send("POST", at, {})).body.fields[0].field).toBe("group_ids");
    expect((await acme.send("DELETE", at, { group_ids: [tree.leaf] })).body).toEqual({ unbound: [tree.leaf], not_bound: [] });
    expect((await acme.send("DELETE", `${at}?group_ids=${tree.other}`)).status).toBe(200);
    expect(await bound()).toEqual([]);
    const none = await acme.send("DELETE", at, { group_ids: [tree.leaf] });
    expect([none.status, none.body.code]).toEqual([404, "not_bound"]);
    expect((await acme.send("DELETE", at)).body.fields[0].field).toBe("group_ids");
    expect((await beta.send("POST", at, { group_ids: [tree.leaf] })).status).toBe(404);
  });

  test("end when the group is deleted, which leaves the policy bound to no group", async () => {
    const { body: group } = await acme.send("POST", "/v1/admin/resource-groups", { name: "short-lived" });
    const policy = await create({ group_ids: [group.id] });
    expect((await acme.send("DELETE", `/v1/admin/resource-groups/${group.id}`)).status).toBe(204);
    // The policy now applies to nobody, not to everybody.
    expect((await acme.send("GET", `${PATH}/${policy.id}`)).body.group_ids).toEqual([]);
  });
});
