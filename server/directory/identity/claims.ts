import { type IdentityProviderSettings, type MappingPreviewResult, MAX_SUBJECT } from "@gatehouse/contracts/identity-providers";
import { withoutSteering } from "@gatehouse/contracts/conventions";
import { TENANT_ROLES } from "@gatehouse/contracts/roles";
import { isObject } from "../../kernel/json-value.ts";
import { isStorableText } from "../../kernel/text/storable.ts";

/** What a provider asserts about somebody, whichever protocol it came by. */
export type Claims = Readonly<Record<string, unknown>>;

const MAX_GROUPS = 1_000;
/** Entra ID lists here the claims that must be fetched elsewhere. */
const OVERAGE = "_claim_names";
const MAX_GROUP_NAME = 500;

/** Null for values that cannot be kept exactly: distinct names could become the same, as happens to large numbers when parsed. */
export const textOf = (value: unknown): string | null => {
  if (typeof value === "string") return value !== "" && isStorableText(value) ? value : null;
  return typeof value === "number" && (Number.isSafeInteger(value) || !Number.isInteger(value)) ? String(value) : null;
};

/** A claim by its name, or else by a dotted path. */
export function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split(".")) {
    if (!isObject(value) || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}

/** Null means that the provider omitted the groups because there are too many, not that there are none. */
export function groupsOf(claims: Claims, name: string): string[] | null {
  const value = claimAt(claims, name);
  if (value === undefined) {
    const elsewhere = claims[OVERAGE];
    if (typeof elsewhere === "object" && elsewhere !== null && Object.hasOwn(elsewhere, name)) return null;
    if (Object.keys(claims).some((one) => one.endsWith("/claims/groups.link"))) return null;
    return [];
  }
  const given = Array.isArray(value) ? value : [value];
  if (given.length > MAX_GROUPS) return null;
  return [...new Set(given.filter((one): one is string => typeof one === "string" && one !== "" && one.length <= MAX_GROUP_NAME))];
}

/** The first required claim that has none of its allowed values; null if all are satisfied. */
export function lacksClaim(claims: Claims, required: Readonly<Record<string, readonly string[]>>): string | null {
  for (const [name, allowed] of Object.entries(required)) {
    const value = claimAt(claims, name);
    const given = (Array.isArray(value) ? value : [value]).map(textOf);
    if (!given.some((one) => one !== null && allowed.includes(one))) return name;
  }
  return null;
}

const MAX_SUBJECT_PART = 500;

function partsOf(claims: Claims, names: readonly string[]): string[] | null {
  const parts = names.map((name) => textOf(claimAt(claims, name)));
  return parts.every((part) => part !== null && part.length <= MAX_SUBJECT_PART) ? (parts as string[]) : null;
}

/**
 * Joins several parts with a slash. If a part itself contains a slash, the parts are escaped and joined with two slashes,
 * so that different people cannot get the same subject.
 */
export function subjectOf(claims: Claims, names: readonly string[]): string | null {
  const parts = partsOf(claims, names);
  if (parts === null) return null;
  if (parts.length === 1 || !parts.some((part) => part.includes("/"))) return parts.join("/");
  const joined = parts.map(withoutSlashes).join("//");
  return joined.length > MAX_SUBJECT ? null : joined;
}

/** Escapes a part for a subject of which some part contains a slash. */
const withoutSlashes = (part: string): string => part.replaceAll("%", "%25").replaceAll("/", "%2F");

/** The subject in the former, unescaped format; null if it is the same. */
export function formerSubjectOf(claims: Claims, names: readonly string[]): string | null {
  const former = partsOf(claims, names)?.join("/") ?? null;
  return former === subjectOf(claims, names) ? null : former;
}

const DEFAULT_GROUPS = "groups";
const DEFAULT_EMAIL = "email";
const MAX_EMAIL = 320;
const MAX_DISPLAY_NAME = 200;
/** Exactly one address: of a list, only the last domain would be checked. */
const ADDRESS = /^[^\s@,;<>"\p{Cc}\p{Cf}]+@[^\s@,;<>"\p{Cc}\p{Cf}]+$/u;

function emailOf(claims: Claims, name: string): string | null {
  const text = textOf(claimAt(claims, name));
  return text !== null && text.length <= MAX_EMAIL && ADDRESS.test(text) ? text : null;
}

function displayNameOf(claims: Claims, name: string): string | null {
  const text = withoutSteering(textOf(claimAt(claims, name)) ?? "").trim();
  return text === "" ? null : [...text].slice(0, MAX_DISPLAY_NAME).join("");
}

/** Whether the provider states that the address is unverified, so that anybody may have entered it. */
const isUnverified = ({ email_verified: verified }: Claims): boolean => verified === false || verified === "false";

/** What somebody with these claims would become here. */
export const mapped = (settings: IdentityProviderSettings, claims: Claims): MappingPreviewResult => judged(settings, claims).who;

/** `lost`: refused because of what the provider asserts, not because it omits something. */
export interface JudgedClaims {
  readonly who: MappingPreviewResult;
  readonly lost: boolean;
}

export function judged(settings: IdentityProviderSettings, claims: Claims): JudgedClaims {
  const { attributes, oidc, saml } = settings;
  const subject = oidc === null ? textOf(claimAt(claims, saml?.subject_attribute ?? "nameID")) : subjectOf(claims, oidc.subject_claims);
  const email = emailOf(claims, attributes.email ?? DEFAULT_EMAIL);
  const username =
    textOf(claimAt(claims, attributes.username ?? (oidc === null ? "nameID" : "preferred_username"))) ??
    (attributes.username === null ? email : null);
  const found = groupsOf(claims, attributes.groups ?? DEFAULT_GROUPS);
  const groups = found ?? [];
  const fitting = settings.group_mappings.filter(({ group }) => groups.includes(group));
  const roles = fitting.map(({ role }) => role);
  const each = (name: "end_user_group_id" | "resource_group_id") => [
    ...new Set(fitting.map((one) => one[name]).filter((id) => id !== null)),
  ];
  const unclear = whyUnclear(settings, { subject, username, groups: found });
  const reason = unclear ?? whyNot(settings, { claims, email, groups });
  const who = {
    subject,
    username,
    email,
    display_name: displayNameOf(claims, attributes.display_name ?? "name"),
    groups,
    end_user_group_ids: each("end_user_group_id"),
    // Roles are listed from the most privileged to the least.
    role: TENANT_ROLES.find((role) => roles.includes(role)) ?? null,
    resource_group_ids: each("resource_group_id"),
    allowed: reason === null,
    reason,
  };
  return { who, lost: unclear === null && reason !== null };
}

function whyUnclear(
  settings: IdentityProviderSettings,
  who: { subject: string | null; username: string | null; groups: string[] | null },
): string | null {
  if (who.subject === null) return "The provider does not say who it is: the claim of the subject is missing.";
  if (settings.api === null && who.username === null) return "The provider sends no username.";
  // With a directory, the token's groups no longer decide end user groups, but still everything else.
  const decides = settings.group_mappings.some((one) => settings.scim_directory === null || one.end_user_group_id === null);
  if ((settings.required_group !== null || decides) && who.groups === null)
    return "The provider left the groups out because there are too many: let it send those assigned to the application, or provision them.";
  return null;
}

function whyNot(settings: IdentityProviderSettings, who: { claims: Claims; email: string | null; groups: string[] }): string | null {
  const missing = settings.oidc === null ? null : lacksClaim(who.claims, settings.oidc.required_claims);
  if (missing !== null) return `The claim ${missing} has none of the values it must have.`;
  if (settings.required_group !== null && !who.groups.includes(settings.required_group)) return "They are not in the required group.";
  const domain = who.email?.slice(who.email.lastIndexOf("@") + 1).toLowerCase();
  if (settings.allowed_domains.length > 0 && !settings.allowed_domains.some((one) => one.toLowerCase() === domain))
    return "The domain of their mail address is not allowed.";
  if (settings.allowed_domains.length > 0 && (settings.attributes.email ?? DEFAULT_EMAIL) === DEFAULT_EMAIL && isUnverified(who.claims))
    return "The provider says that their mail address is not verified, and its domain decides who may come in.";
  return null;
}
