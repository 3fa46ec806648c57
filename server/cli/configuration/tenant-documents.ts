import type { AdminMethod, ConfigApi } from "./admin-api.ts";
import { type ConfigEntry, isConfigEntry } from "./value.ts";

/** A document that a tenant has once; in the file at the top level, under `member`. */
export interface TenantDocument {
  readonly member: string;
  readonly path: string;
  readonly write: AdminMethod & ("PUT" | "PATCH");
  /** The members a file has. */
  readonly members: readonly string[];
  /** The body to write if nothing is configured. */
  readonly empty?: ConfigEntry;
  /** Whether a response contains anything configured. */
  readonly isInAnswer: (answer: ConfigEntry) => boolean;
}

const NO_STATEMENTS = { controller: null, data_protection_officer: null, purposes: null, data_subjects: null, personal_data: null };

export const TENANT_DOCUMENTS: readonly TenantDocument[] = [
  {
    member: "notice",
    path: "/v1/admin/notice-config",
    write: "PUT",
    members: ["enabled", "surface", "texts", "exemption"],
    isInAnswer: ({ source }) => source === "tenant",
  },
  {
    member: "compliance_profile",
    path: "/v1/admin/compliance/profile",
    write: "PATCH",
    members: ["frameworks"],
    isInAnswer: ({ frameworks }) => Array.isArray(frameworks) && frameworks.length > 0,
  },
  {
    member: "gdpr_statements",
    path: "/v1/admin/compliance/gdpr/statements",
    write: "PATCH",
    members: Object.keys(NO_STATEMENTS),
    empty: NO_STATEMENTS,
    isInAnswer: (answer) => Object.values(answer).some((value) => value !== null),
  },
  {
    member: "discovery_settings",
    path: "/v1/admin/discovery/settings",
    write: "PATCH",
    members: ["gateway_origins"],
    isInAnswer: ({ gateway_origins: origins }) => Array.isArray(origins) && origins.length > 0,
  },
];

/** The configured documents, in file form. */
export async function readTenantDocuments(api: ConfigApi): Promise<ReadonlyMap<string, ConfigEntry>> {
  const found = new Map<string, ConfigEntry>();
  for (const one of TENANT_DOCUMENTS) {
    const answer = await api.ask("GET", one.path);
    if (isConfigEntry(answer) && one.isInAnswer(answer))
      found.set(one.member, Object.fromEntries(one.members.map((member) => [member, answer[member] ?? null])));
  }
  return found;
}
