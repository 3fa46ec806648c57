import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfiguration } from "./configuration.ts";
import { readSecretFiles } from "./secret-files.ts";

const folder = mkdtempSync(join(tmpdir(), "secret-files-"));
afterAll(() => rmSync(folder, { recursive: true }));

function file(contents: string): string {
  const path = join(folder, crypto.randomUUID());
  writeFileSync(path, contents);
  return path;
}

function read(env: Record<string, string | undefined>) {
  readSecretFiles(env);
  return env;
}

test("a secret is read from the file named by _FILE, without the final line break", () => {
  const key = Buffer.alloc(32, 7).toString("base64");
  const env = read({ GW_SECRET_KEY_FILE: file(`${key}\n`), DATABASE_URL_FILE: file("postgres://u:p@db.example/g"), GW_HOST: "::1" });
  expect(env).toEqual({ GW_SECRET_KEY: key, DATABASE_URL: "postgres://u:p@db.example/g", GW_HOST: "::1" });
  expect(readConfiguration(env)).toMatchObject({ secretKey: key, databaseUrl: "postgres://u:p@db.example/g" });
});

test("a secret set twice, or with a missing or empty file, stops the start with its name but not its value", () => {
  expect(() => read({ GW_JWT_SECRET: "hunter2", GW_JWT_SECRET_FILE: file("hunter3") })).toThrow(
    /^GW_JWT_SECRET and GW_JWT_SECRET_FILE are both set: one of them has to go$/,
  );
  expect(() => read({ VALKEY_URL_FILE: join(folder, "missing") })).toThrow(/^VALKEY_URL_FILE names a file that cannot be read: .*missing/);
  expect(() => read({ GW_SECRET_KEY_FILE: file("\n") })).toThrow("GW_SECRET_KEY_FILE names a file with nothing in it");
});

test("an empty _FILE setting names no file, and settings that are no secrets have no _FILE variant", () => {
  expect(read({ GW_SECRET_KEY_FILE: "", GW_SECRET_KEY: "k" })).toEqual({ GW_SECRET_KEY: "k" });
  expect(() => readConfiguration(read({ GW_HOST_FILE: file("::1") }))).toThrow("GW_HOST_FILE: no such setting");
});
