import type { IdentityProviderSettings, SignOnProvider } from "@gatehouse/contracts/identity-providers";

/** Whether somebody whom the settings before let in might be refused, or have another role, by those after. */
export function demandsMore(
  audience: SignOnProvider["audience"],
  before: IdentityProviderSettings,
  after: IdentityProviderSettings,
): boolean {
  return (
    // Nobody gets into the console whom the directory does not know; at the portal their account is enough.
    (audience === "admin" && after.scim_directory !== null && after.scim_directory !== before.scim_directory) ||
    (before.two_factor_at_provider && !after.two_factor_at_provider) ||
    (after.required_group !== null && after.required_group !== before.required_group) ||
    isNarrower(before.allowed_domains, after.allowed_domains) ||
    Object.entries(after.oidc?.required_claims ?? {}).some(([name, values]) => lacksSome(before.oidc?.required_claims[name], values)) ||
    before.group_mappings.some(
      (one) => one.role !== null && !after.group_mappings.some(({ group, role }) => group === one.group && role === one.role),
    )
  );
}

const keyOf = (domain: string) => domain.toLowerCase();

/** Of lists in which none means all. */
function isNarrower(before: readonly string[], after: readonly string[]): boolean {
  if (after.length === 0) return false;
  return lacksSome(before.length === 0 ? undefined : before.map(keyOf), after.map(keyOf));
}

/** Whether any of those before, or of all there are where they are not listed, is missing. */
function lacksSome(before: readonly string[] | undefined, after: readonly string[]): boolean {
  return before === undefined || before.some((one) => !after.includes(one));
}
