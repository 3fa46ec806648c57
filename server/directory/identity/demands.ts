import type { IdentityProviderSettings, SignOnProvider } from "@gatehouse/contracts/identity-providers";

/**
 * Whether somebody admitted by the old settings might be refused, or get a different role, under the new ones; or might not have shown the
 * second factor that the provider asks for from now on.
 */
export function demandsMore(
  audience: SignOnProvider["audience"],
  before: IdentityProviderSettings,
  after: IdentityProviderSettings,
): boolean {
  return (
    // The console requires the person to be known to the directory; the portal requires only an account.
    (audience === "admin" && after.scim_directory !== null && after.scim_directory !== before.scim_directory) ||
    (audience === "admin" && before.two_factor_at_provider !== after.two_factor_at_provider) ||
    (after.required_group !== null && after.required_group !== before.required_group) ||
    isNarrower(before.allowed_domains, after.allowed_domains) ||
    Object.entries(after.oidc?.required_claims ?? {}).some(([name, values]) => lacksSome(before.oidc?.required_claims[name], values)) ||
    before.group_mappings.some(
      (one) => one.role !== null && !after.group_mappings.some(({ group, role }) => group === one.group && role === one.role),
    )
  );
}

const keyOf = (domain: string) => domain.toLowerCase();

/** Compares lists in which empty means all. */
function isNarrower(before: readonly string[], after: readonly string[]): boolean {
  if (after.length === 0) return false;
  return lacksSome(before.length === 0 ? undefined : before.map(keyOf), after.map(keyOf));
}

/** Whether an old value is missing from the new list. Undefined stands for all values. */
function lacksSome(before: readonly string[] | undefined, after: readonly string[]): boolean {
  return before === undefined || before.some((one) => !after.includes(one));
}
