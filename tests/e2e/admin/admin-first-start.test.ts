import { afterEach, beforeEach, expect, test } from "bun:test";
import { firstStart } from "../../../server/directory/first-start.ts";
import type { Directory } from "../../../server/directory/writes/write.ts";
import { systemClock } from "../../../server/kernel/clock.ts";
import { sealContext, secretBox, sha256Hex } from "../../../server/kernel/secrets.ts";
import { hashPassword, verifyPassword } from "../../../server/runtime/passwords.ts";
import { testDatabase, type TestDatabase } from "../../support/database.ts";

let database: TestDatabase;
let directory: Directory;

beforeEach(async () => {
  database = await testDatabase();
  directory = { db: database.db, secrets: secretBox(new Uint8Array(32).fill(7)), clock: systemClock(), hashPassword, fallbackJudge: null };
});
afterEach(() => database.close());

const start = (env: Record<string, string> = {}, more: object = {}) =>
  firstStart({ directory, bootstrapAdminPassword: undefined, quickstart: true, env, ...more });

test("the first start creates what a first call needs and shows its secrets once", async () => {
  const { first, made, models } = await start();
  expect([first, models]).toEqual([true, ["echo"]]);
  const admin = await database.db.selectFrom("admin_users").selectAll().executeTakeFirstOrThrow();
  expect([admin.username, admin.tenant_id, await verifyPassword(made.admin_password ?? "", admin.password_hash)]).toEqual([
    "admin",
    null,
    true,
  ]);
  const key = await database.db.selectFrom("api_keys").selectAll().executeTakeFirstOrThrow();
  expect([key.scope, key.key_hash]).toEqual(["global", sha256Hex(made.api_key ?? "")]);
  const user = await database.db.selectFrom("end_users").selectAll().executeTakeFirstOrThrow();
  expect([user.username, user.primary_group_id, await verifyPassword(made.portal_user?.password ?? "", user.password_hash)]).toEqual([
    "user",
    key.resource_group_id,
    true,
  ]);
  const echo = await database.db.selectFrom("models").selectAll().executeTakeFirstOrThrow();
  expect([echo.name, echo.input_cost, echo.output_cost]).toEqual(["echo", 0, 0]);
  const bound = await database.db.selectFrom("resource_group_models").selectAll().executeTakeFirstOrThrow();
  expect([bound.group_id, bound.model_id]).toEqual([key.resource_group_id ?? "", echo.id]);
  const log = JSON.stringify(await database.db.selectFrom("admin_log").selectAll().execute());
  for (const secret of [made.admin_password, made.api_key, made.portal_user?.password]) expect(log).not.toContain(secret ?? "?");

  expect(await start({ OPENAI_API_KEY: "sk-later" })).toEqual({ first: false, made: {}, models: [], notSignedInYet: "admin" });
  expect((await start({}, { bootstrapAdminPassword: "of the settings" })).notSignedInYet).toBeNull();
  await database.db.updateTable("admin_users").set({ last_login: new Date() }).execute();
  expect((await start()).notSignedInYet).toBeNull();
  expect((await database.db.selectFrom("providers").selectAll().execute()).length).toBe(1);
});

test("the first start creates a provider for each API key in the environment, and then no echo model", async () => {
  const { models } = await start({
    OPENAI_API_KEY: "sk-openai-123456789",
    OPENAI_BASE_URL: "http://127.0.0.1:9/v1/",
    DEEPSEEK_API_KEY: "sk-deepseek-12345",
    OLLAMA_HOST: "0.0.0.0",
  });
  expect(models).toEqual(["gpt-6-sol", "gpt-5.4-mini", "deepseek-v4-flash", "deepseek-v4-pro", "llama3.2"]);
  const providers = await database.db.selectFrom("providers").selectAll().orderBy("provider_key").execute();
  expect(providers.map((row) => [row.provider_key, row.api_format, row.base_url])).toEqual([
    ["deepseek", "openai", "https://api.deepseek.com/v1"],
    ["ollama", "openai", "http://127.0.0.1:11434/v1"],
    ["openai", "openai", "http://127.0.0.1:9/v1"],
  ]);
  const openai = providers[2];
  expect(directory.secrets.open(openai?.api_key_sealed ?? "", sealContext("providers", openai?.id ?? ""))).toBe("sk-openai-123456789");
  const priced = await database.db
    .selectFrom("models")
    .select(["name", "input_cost"])
    .where("name", "in", ["gpt-6-sol", "deepseek-v4-pro"])
    .orderBy("name")
    .execute();
  expect(priced).toEqual([
    { name: "deepseek-v4-pro", input_cost: null },
    { name: "gpt-6-sol", input_cost: 2_000_000 },
  ]);
});

test("the first start sets up vendors in their own formats, with model prices from the catalog", async () => {
  await start({ ANTHROPIC_API_KEY: "sk-ant-123456789012", GEMINI_API_KEY: "AIza-123456789012" });
  const providers = await database.db.selectFrom("providers").selectAll().orderBy("provider_key").execute();
  expect(providers.map((row) => [row.provider_key, row.api_format, row.base_url])).toEqual([
    ["anthropic", "anthropic", "https://api.anthropic.com/v1"],
    ["gemini", "gemini", "https://generativelanguage.googleapis.com/v1beta"],
  ]);
  const haiku = await database.db.selectFrom("models").selectAll().where("name", "=", "claude-haiku-4-5").executeTakeFirstOrThrow();
  expect([haiku.input_cost, haiku.output_cost, haiku.cache_read_cost, haiku.cache_write_cost, haiku.cache_write_hour_cost]).toEqual([
    1_000_000, 5_000_000, 100_000, 1_250_000, 2_000_000,
  ]);
  expect([haiku.supports_vision, haiku.supports_tools, haiku.context_window]).toEqual([true, true, 200_000]);
});

test("without quick start only the administrator and the tenant are created, and a given password is not shown", async () => {
  const { made } = await start({}, { quickstart: false, bootstrapAdminPassword: "given password" });
  expect(made).toEqual({});
  expect((await database.db.selectFrom("resource_groups").selectAll().execute()).length).toBe(0);
  const tenant = await database.db.selectFrom("tenants").selectAll().executeTakeFirstOrThrow();
  expect([tenant.id, tenant.data_retention]).toEqual([
    "default",
    { store_bodies: "redacted", body_days: 30, log_days: 400, run_days: 400, file_days: 30 },
  ]);
});

test("processes that start at the same time create the first records once", async () => {
  const starts = await Promise.all(Array.from({ length: 4 }, () => start()));
  expect(starts.filter(({ first }) => first).length).toBe(1);
  expect((await database.db.selectFrom("api_keys").selectAll().execute()).length).toBe(1);
});

test("an invalid provider address fails the first start, naming its variable, and creates nothing", async () => {
  expect(start({ OPENAI_API_KEY: "sk", OPENAI_BASE_URL: "nonsense" })).rejects.toThrow("OPENAI_BASE_URL must be an http or https address");
  expect((await database.db.selectFrom("tenants").selectAll().execute()).length).toBe(0);
});
