import { z } from "zod";

/** Roles of tenant administrators. A system administrator has the role `system_admin`, no tenant, and every permission. */
export const TENANT_ROLES = ["owner", "admin", "security", "compliance", "auditor", "developer", "viewer"] as const;
export const SYSTEM_ROLE = "system_admin";

export type TenantRole = (typeof TENANT_ROLES)[number];
export type Role = TenantRole | typeof SYSTEM_ROLE;

const AREAS = [
  "tenants",
  "users",
  "groups",
  "models",
  "keys",
  "limits",
  "policies",
  "tools",
  "agents",
  "skills",
  "assets",
  "discovery",
  "usage",
  "compliance",
  "assurance",
] as const;

type Area = (typeof AREAS)[number];

/** Each area has `read` and `write`; the rest are single permissions. `audit:read` covers the admin log, chains, keys and exports. */
export type Permission =
  | `${Area}:${"read" | "write"}`
  | "contracts:approve"
  | "contracts:override_gate"
  | "audit:read"
  | "audit:verify"
  | "audit:acknowledge"
  | "data:erasure"
  | "proxy:logs:read"
  | "proxy:logs:read_bodies";

const reads = (...areas: readonly Area[]): Permission[] => areas.map((area) => `${area}:read` as const);
const writes = (...areas: readonly Area[]): Permission[] => areas.flatMap((area) => [`${area}:read`, `${area}:write`] as const);

const STANDING_ALONE: readonly Permission[] = [
  "contracts:approve",
  "contracts:override_gate",
  "audit:read",
  "audit:verify",
  "audit:acknowledge",
  "data:erasure",
  "proxy:logs:read",
  "proxy:logs:read_bodies",
];
const CONFIGURATION = ["groups", "models", "keys", "limits", "policies", "tools", "agents", "skills", "assets"] as const;

export const ALL_PERMISSIONS: readonly Permission[] = [...writes(...AREAS), ...STANDING_ALONE];

const BUNDLES: Record<Role, readonly Permission[]> = {
  system_admin: ALL_PERMISSIONS,
  owner: ALL_PERMISSIONS,
  // Everything except managing owners, which only owners may do.
  admin: ALL_PERMISSIONS,
  security: [
    ...reads(...AREAS),
    ...writes("keys", "limits", "policies", "discovery", "assets"),
    "audit:read",
    "audit:verify",
    "audit:acknowledge",
    "proxy:logs:read",
    "proxy:logs:read_bodies",
  ],
  compliance: [
    ...reads(...AREAS),
    ...writes("compliance", "assurance", "discovery", "assets"),
    "contracts:approve",
    "data:erasure",
    "audit:read",
    "audit:verify",
    "audit:acknowledge",
    "proxy:logs:read",
  ],
  auditor: [...reads(...AREAS), "audit:read", "audit:verify", "proxy:logs:read"],
  developer: [...reads(...CONFIGURATION), ...writes("models", "keys", "tools", "agents", "skills"), "proxy:logs:read"],
  viewer: reads(...CONFIGURATION, "discovery", "usage", "compliance", "assurance"),
};

/** The permissions of a role; an empty set for an unknown role. */
export function permissionsOf(role: string): ReadonlySet<Permission> {
  return new Set(Object.hasOwn(BUNDLES, role) ? BUNDLES[role as Role] : []);
}

export const anyRole = z.enum([...TENANT_ROLES, SYSTEM_ROLE]);
