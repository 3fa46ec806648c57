import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { readConfiguration } from "./configuration.ts";
import { ConfigurationError } from "./read-variable.ts";

function refusal(env: Record<string, string>): string {
  try {
    readConfiguration(env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as Error).message;
  }
  throw new Error("it was taken");
}

const pem = { format: "pem" } as const;
const ed25519 = generateKeyPairSync("ed25519");
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });

test("GW_AUDIT_SIGNING_KEY must be an Ed25519 private key, and is never shown", () => {
  const given = ed25519.privateKey.export({ ...pem, type: "pkcs8" }).toString();
  expect(readConfiguration({ GW_AUDIT_SIGNING_KEY: given }).auditSigningKey).toBe(given);
  for (const bad of [
    "hunter2",
    ed25519.publicKey.export({ ...pem, type: "spki" }).toString(),
    rsa.privateKey.export({ ...pem, type: "pkcs8" }).toString(),
  ]) {
    expect(refusal({ GW_AUDIT_SIGNING_KEY: bad })).toBe("GW_AUDIT_SIGNING_KEY must be an Ed25519 private key, PEM");
  }
});

test.each([" ".repeat(32), `x${" ".repeat(40)}x`, `${"x".repeat(31)}\n`])(
  "whitespace does not count towards the length of GW_JWT_SECRET: %j",
  (secret) => {
    expect(refusal({ GW_JWT_SECRET: secret })).toMatch(/^GW_JWT_SECRET must be at least 32 characters/);
  },
);

test("whitespace around the bucket's keys is removed", () => {
  const store = {
    GW_AUDIT_CHECKPOINT_URL: "s3://bucket",
    AWS_ACCESS_KEY_ID: "id\n",
    AWS_SECRET_ACCESS_KEY: " secret\n",
    AWS_SESSION_TOKEN: "token\r\n",
  };
  expect(readConfiguration(store).auditCheckpointBucket?.keys).toEqual({
    accessKeyId: "id",
    secretAccessKey: "secret",
    sessionToken: "token",
  });
  expect(refusal({ ...store, AWS_SECRET_ACCESS_KEY: "\n" })).toBe("AWS_SECRET_ACCESS_KEY must not be blank");
});

test("certificates cannot be left unverified", () => {
  expect(refusal({ NODE_TLS_REJECT_UNAUTHORIZED: "0" })).toMatch(/^NODE_TLS_REJECT_UNAUTHORIZED must not be 0: .*NODE_EXTRA_CA_CERTS/);
  expect(readConfiguration({ NODE_TLS_REJECT_UNAUTHORIZED: "1" }).loopback).toBe(true);
});

test("an unknown GW_ setting stops the start and suggests similar names", () => {
  expect(refusal({ GW_RUNTIM_PORT: "1", GW_DATABASE: "x" })).toBe(
    "GW_RUNTIM_PORT, GW_DATABASE: no such setting (is GW_RUNTIME_PORT meant? see docs/reference/configuration.md)",
  );
  for (const name of ["GW_PROT", "GW_PORT"])
    expect(refusal({ [name]: "1" })).toBe(
      `${name}: no such setting (is GW_RUNTIME_PORT or GW_ADMIN_PORT meant? see docs/reference/configuration.md)`,
    );
  expect(refusal({ GW_XYZ: "1" })).toBe("GW_XYZ: no such setting (see docs/reference/configuration.md)");
  expect(refusal({ GW_SECRET: "hunter2" })).toBe("GW_SECRET: no such setting (see docs/reference/configuration.md)");
});

test("GW_HOST accepts an IPv6 address in brackets", () => {
  for (const host of ["::1", "[::1]"]) expect(readConfiguration({ GW_HOST: host })).toMatchObject({ host: "::1", loopback: true });
  expect(readConfiguration({ GW_HOST: "[name]" }).host).toBe("[name]");
});

test("GW_BOOTSTRAP_ADMIN_PASSWORD must be a password that a login accepts", () => {
  expect(readConfiguration({ GW_BOOTSTRAP_ADMIN_PASSWORD: " a pass word \r\n" }).bootstrapAdminPassword).toBe(" a pass word ");
  expect(readConfiguration({ GW_BOOTSTRAP_ADMIN_PASSWORD: "x".repeat(200) }).bootstrapAdminPassword).toBe("x".repeat(200));
  expect(refusal({ GW_BOOTSTRAP_ADMIN_PASSWORD: "hunter2\n" })).toBe("GW_BOOTSTRAP_ADMIN_PASSWORD must be at least 8 characters");
  expect(refusal({ GW_BOOTSTRAP_ADMIN_PASSWORD: "x".repeat(201) })).toBe("GW_BOOTSTRAP_ADMIN_PASSWORD must be at most 200 characters");
});

test.each([
  "redis://:hunter2@valkey.example:6379/1",
  "rediss://valkey.example",
  "valkey://[::1]:6379",
  "valkeys://valkey.example",
  "redis+unix:///run/valkey.sock",
  "valkey.example:6379",
  "localhost",
])("VALKEY_URL may be %s", (url) => {
  expect(readConfiguration({ VALKEY_URL: url }).valkeyUrl).toBe(url);
});

test.each([
  "http://:hunter2@valkey.example:6379",
  "redis://:hunter2@valkey.example:99999",
  "postgres://hunter2@valkey.example",
  "two words",
  "redis://valkey.example:6379 ",
])("VALKEY_URL may not be %s, and its value is not shown", (url) => {
  expect(refusal({ VALKEY_URL: url })).toBe("VALKEY_URL must be an address such as redis://valkey.example:6379");
});

test.each([
  "postgres://me:hunter2@pg.example:5432/gatehouse?sslmode=require",
  "postgresql:///gatehouse?host=/run/postgresql",
  "socket:/run/postgresql?db=gatehouse",
  "/run/postgresql gatehouse",
  "postgres://me:hunter,2@pg.example/gatehouse?options=-c%20search_path=a,b",
])("DATABASE_URL may be %s", (url) => {
  expect(readConfiguration({ DATABASE_URL: url }).databaseUrl).toBe(url);
});

test.each([
  " postgres://me:hunter2@pg.example/gatehouse",
  "mysql://me:hunter2@pg.example/gatehouse",
  "pg.example:5432/gatehouse",
  "host=pg.example password=hunter2",
  " ",
])("DATABASE_URL may not be %s, and its value is not shown", (url) => {
  expect(refusal({ DATABASE_URL: url })).toBe(
    "DATABASE_URL must be an address such as postgres://user:password@postgres.example:5432/gatehouse",
  );
});

test.each([
  "postgres://me:hunter2@pg1.example,pg2.example/gatehouse?target_session_attrs=read-write",
  "postgresql://pg1.example:5432,pg2.example:5433/gatehouse",
  "postgres:///gatehouse?user=me&host=pg1.example,pg2.example&port=5432,5433",
])("DATABASE_URL with several servers is refused with advice: %s", (url) => {
  expect(refusal({ DATABASE_URL: url })).toBe(
    "DATABASE_URL must name one server: where several stand behind each other, an address that leads to the one that takes writes, such as " +
      "that of a proxy or a virtual one",
  );
});

test.each([
  " https://gateway.example",
  "https://gateway.example ",
  "https://me:hunter2@gateway.example",
  "https://gateway.example?a",
  "gateway.example",
  "https://gateway.example/?",
  "https://gateway.example#",
  "https://@gateway.example",
  "https:\\\\gateway.example",
  "https://gateway.example\\a",
  "https:gateway.example",
])("GW_PUBLIC_URL may not be %s, because other addresses are built from it", (url) => {
  expect(refusal({ GW_PUBLIC_URL: url })).toStartWith("GW_PUBLIC_URL must be an address such as https://gateway.example");
});

test("a password in GW_PUBLIC_URL is masked in the error", () => {
  expect(refusal({ GW_PUBLIC_URL: "https://me:hunter2@gateway.example" })).toEndWith('(it is "https://***@gateway.example")');
});

test("an invalid value of a setting with fixed values is refused, naming the values", () => {
  const settings = { GW_ALLOW_PRIVATE_UPSTREAMS: "yes" };
  expect(() => readConfiguration(settings)).toThrow('GW_ALLOW_PRIVATE_UPSTREAMS must be on or off (it is "yes")');
});

test("one port for both planes is refused with both names, except port 0", () => {
  expect(refusal({ GW_ADMIN_PORT: "8080" })).toBe("GW_RUNTIME_PORT and GW_ADMIN_PORT must be two ports, and both are 8080");
  expect(readConfiguration({ GW_RUNTIME_PORT: "0", GW_ADMIN_PORT: "0" }).adminPort).toBe(0);
});

test("GW_AUDIT_SHIP_WAIT_MS is 200 by default and may be 1 to 10000", () => {
  expect(readConfiguration({}).auditShipWaitMs).toBe(200);
  expect(readConfiguration({ GW_AUDIT_SHIP_WAIT_MS: "25" }).auditShipWaitMs).toBe(25);
  for (const bad of ["0", "10001", "soon", "-1", "1e300", "9".repeat(400)])
    expect(refusal({ GW_AUDIT_SHIP_WAIT_MS: bad })).toBe(
      `GW_AUDIT_SHIP_WAIT_MS must be a whole number from 1 to 10000 (it is ${JSON.stringify(bad)})`,
    );
});
