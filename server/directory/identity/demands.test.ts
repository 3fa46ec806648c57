import { expect, test } from "bun:test";
import { identityProviderCreate, type IdentityProviderSettings } from "@gatehouse/contracts/identity-providers";
import { demandsMore } from "./demands.ts";

const settings = (more: object = {}): IdentityProviderSettings => {
  const { oidc = {}, ...rest } = more as { oidc?: object };
  return identityProviderCreate.parse({
    kind: "oidc",
    audience: "admin",
    name: "Company",
    oidc: { issuer: "https://login.example", client_id: "gatehouse", ...oidc },
    ...rest,
  }) as unknown as IdentityProviderSettings;
};
const claims = (required_claims: object) => ({ oidc: { required_claims } });
const roles = (...mapped: [group: string, role: string][]) => ({ group_mappings: mapped.map(([group, role]) => ({ group, role })) });

test.each<[what: string, before: object, after: object, more: boolean]>([
  ["no change", {}, {}, false],
  ["a required group", {}, { required_group: "eng" }, true],
  ["another required group", { required_group: "eng" }, { required_group: "ops" }, true],
  ["no required group any more", { required_group: "eng" }, { required_group: null }, false],
  ["a second factor at the gateway instead of the provider", { two_factor_at_provider: true }, { two_factor_at_provider: false }, true],
  ["a second factor at the provider instead of the gateway", {}, { two_factor_at_provider: true }, true],
  ["a directory", {}, { scim_directory: "entra" }, true],
  ["another directory", { scim_directory: "entra" }, { scim_directory: "okta" }, true],
  ["no directory any more", { scim_directory: "entra" }, { scim_directory: null }, false],
  ["some allowed domains", {}, { allowed_domains: ["a.example"] }, true],
  ["one allowed domain less", { allowed_domains: ["a.example", "b.example"] }, { allowed_domains: ["a.example"] }, true],
  ["one allowed domain more, in other case", { allowed_domains: ["a.example"] }, { allowed_domains: ["A.example", "b.example"] }, false],
  ["every domain allowed", { allowed_domains: ["a.example"] }, { allowed_domains: [] }, false],
  ["a required claim", {}, claims({ tid: ["1"] }), true],
  ["fewer values of a required claim", claims({ tid: ["1", "2"] }), claims({ tid: ["1"] }), true],
  ["more values of a required claim", claims({ tid: ["1"] }), claims({ tid: ["1", "2"] }), false],
  ["no required claim any more", claims({ tid: ["1"] }), claims({}), false],
  ["another role of a group", roles(["eng", "admin"]), roles(["eng", "viewer"]), true],
  ["no role of a group any more", roles(["eng", "admin"], ["ops", "viewer"]), roles(["ops", "viewer"]), true],
  ["a role of one more group", roles(["eng", "admin"]), roles(["ops", "viewer"], ["eng", "admin"]), false],
])("a change of the sign-in settings to %s is detected as stricter or not", (_what, before, after, more) => {
  expect(demandsMore("admin", settings(before), settings(after))).toBe(more);
});

test.each<[what: string, before: object, after: object]>([
  ["a directory", {}, { scim_directory: "entra" }],
  ["a second factor at the gateway", { two_factor_at_provider: true }, { two_factor_at_provider: false }],
])("a change to %s does not make sign-in to the portal stricter", (_what, before, after) => {
  expect(demandsMore("portal", settings(before), settings(after))).toBe(false);
});
