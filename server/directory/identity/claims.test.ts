import { identityProviderCreate } from "@gatehouse/contracts/identity-providers";
import { expect, test } from "bun:test";
import { formerSubjectOf, mapped, subjectOf } from "./claims.ts";

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
])("with a SCIM directory for groups, a sign-in that needs %s is refused if the provider omitted the groups", (_what, settings) => {
  const { allowed, reason } = mapped(provider(settings), OVERAGE);
  expect([allowed, reason]).toEqual([false, expect.stringContaining("left the groups out because there are too many")]);
});

test("with a SCIM directory for groups, the identity provider need not send groups for end-user groups", () => {
  const settings = { group_mappings: [{ group: "staff", end_user_group_id: crypto.randomUUID() }] };
  expect(mapped(provider(settings), OVERAGE).allowed).toBe(true);
  expect(mapped(provider({ ...settings, scim_directory: null }), OVERAGE).allowed).toBe(false);
});

test("numeric subjects too large to be exact are refused, so that two people never become one", () => {
  const settings = provider({ oidc: { issuer: "https://issuer.example", client_id: "gatehouse", subject_claims: ["number"] } });
  const read = (number: string) => mapped(settings, JSON.parse(`{"preferred_username":"ada","number":${number}}`));
  expect([read("9007199254740992"), read("9007199254740993")].map(({ allowed, subject }) => [allowed, subject])).toEqual([
    [false, null],
    [false, null],
  ]);
  expect([read("1234567"), read('"9007199254740993"')].map(({ subject }) => subject)).toEqual(["1234567", "9007199254740993"]);
});

test("subjects built from several claims stay distinct, wherever their slashes are", () => {
  const parts = ["", "/", "%", "%2F", "a", "b"];
  const pairs = parts.flatMap((one) => parts.flatMap((other) => parts.map((last) => [`x${one}${other}`, `${last}y`] as const)));
  const people = new Set(pairs.map((pair) => JSON.stringify(pair)));
  const subjects = new Set(pairs.map(([org, sub]) => subjectOf({ org, sub }, ["org", "sub"])));
  expect(subjects.size).toBe(people.size);
  // Unchanged from the former format if no part contains a slash.
  expect(subjectOf({ tid: "7%2F", oid: "8" }, ["tid", "oid"])).toBe("7%2F/8");
  expect(subjectOf({ sub: "repo:a/b" }, ["sub"])).toBe("repo:a/b");
  expect([formerSubjectOf({ org: "a/b", sub: "c" }, ["org", "sub"]), formerSubjectOf({ org: "a", sub: "c" }, ["org", "sub"])]).toEqual([
    "a/b/c",
    null,
  ]);
});
