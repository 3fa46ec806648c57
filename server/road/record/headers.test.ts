import { expect, test } from "bun:test";
import { cpuMs } from "../../../tests/support/processes/cpu-time.ts";
import { sanitisedHeaders } from "./headers.ts";

const TOKEN = `eyJhbGciOiJFUzI1NiJ9.${"eyJzdWIiOiJhZGEifQ".repeat(3)}.c2lnbmF0dXJl`;

test.each([
  "authorization",
  "proxy-authorization",
  "x-api-key",
  "cookie",
  "x-amz-security-token",
  "cf-access-jwt-assertion",
  "x-goog-iap-jwt-assertion",
  "x-amzn-oidc-data",
  "mcp-name",
  "mcp-method",
  "mcp-param-to",
])("the header %s is not recorded", (name) => {
  expect(sanitisedHeaders({ [name]: "value", accept: "text/plain" })).toEqual({ accept: "text/plain" });
});

test.each([
  ["a token in a named part", `id=${TOKEN}; v=1`, "id=[secret]; v=1"],
  ["a padded token", TOKEN.replaceAll(".", "==."), "[secret]"],
  ["a token longer than the maximum value", `${"eyJ"}${"a".repeat(1_100)}.${"b".repeat(40)}.${"c".repeat(40)}`, "[secret]"],
  ["an API key", `Basic sk_gw_api_${"A".repeat(20)}`, "Basic [secret]"],
  ["a text that only looks like a token", "eyJ.and.so", "eyJ.and.so"],
])("in the value of a recorded header: %s", (_name, value, kept) => {
  expect(sanitisedHeaders({ "x-forwarded-identity": value })).toEqual({ "x-forwarded-identity": kept });
});

test("a value of many token beginnings is processed in linear time", () => {
  const started = cpuMs();
  expect(sanitisedHeaders({ "x-forwarded-identity": "-eyJ".repeat(100_000) })["x-forwarded-identity"]).not.toContain("[secret]");
  expect(cpuMs(started)).toBeLessThan(500);
});
