import { identityProviderCreate } from "@gatehouse/contracts/identity-providers";
import { expect, test } from "bun:test";
import { mapped } from "./claims.ts";

const OVERAGE = { sub: "ada", preferred_username: "ada@example.com", _claim_names: { groups: "src1" } };
const provider = (more: object) =>
  identityProviderCreate.parse({
    kind: "oidc",
    audience: "portal",
    name: "Entra",
    oidc: { issuer: "https://issuer.example", client_id: "gatehouse" },
    scim_directory: "entra",
    ...more,
  });

test.each([
  ["a required group", { required_group: "staff" }],
  ["roles", { audience: "admin", group_mappings: [{ group: "staff", role: "viewer" }] }],
])("where a directory keeps the groups of people, %s of which the provider left out is refused with that reason", (_what, settings) => {
  const { allowed, reason } = mapped(provider(settings), OVERAGE);
  expect([allowed, reason]).toEqual([false, expect.stringContaining("left the groups out because there are too many")]);
});

test("groups of people that the directory keeps need not come from the provider as well", () => {
  const settings = { group_mappings: [{ group: "staff", end_user_group_id: crypto.randomUUID() }] };
  expect(mapped(provider(settings), OVERAGE).allowed).toBe(true);
  expect(mapped(provider({ ...settings, scim_directory: null }), OVERAGE).allowed).toBe(false);
});

test("two people whose numbers are too long to be told apart are not one person", () => {
  const settings = provider({ oidc: { issuer: "https://issuer.example", client_id: "gatehouse", subject_claims: ["number"] } });
  const read = (number: string) => mapped(settings, JSON.parse(`{"preferred_username":"ada","number":${number}}`));
  expect([read("9007199254740992"), read("9007199254740993")].map(({ allowed, subject }) => [allowed, subject])).toEqual([
    [false, null],
    [false, null],
  ]);
  expect([read("1234567"), read('"9007199254740993"')].map(({ subject }) => subject)).toEqual(["1234567", "9007199254740993"]);
});
