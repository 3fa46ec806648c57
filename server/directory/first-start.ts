import { httpUrl } from "@gatehouse/contracts/conventions";
import { ConfigurationError } from "../kernel/configuration/read-variable.ts";
import { newPassword } from "../kernel/secrets.ts";
import { lockFirstStart, newSystemAdmin, systemAdminExists } from "../store/people/admin-users.ts";
import { createApiKey } from "./credentials/api-keys.ts";
import { hostAddress, KNOWN_PROVIDERS, type KnownProvider } from "./first-start-providers.ts";
import { resourceGroups } from "./groups/resource-groups.ts";
import { type CatalogProvider, catalogProvider } from "./models/catalog/known-providers.ts";
import { models } from "./models/models.ts";
import { providers } from "./models/providers.ts";
import { adminUsers } from "./people/admin-users.ts";
import { endUsers } from "./people/end-users.ts";
import { tenants } from "./tenants/tenants.ts";
import { write, type Actor, type Directory, type Write } from "./writes/write.ts";

export interface FirstStartDeps {
  readonly directory: Directory;
  /** The system admin's password; generated if undefined. */
  readonly bootstrapAdminPassword: string | undefined;
  /** Whether to create the group, key, portal user and models needed for a first call. */
  readonly quickstart: boolean;
  /** The environment in which provider variables are looked up. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Shown once only, because the store keeps hashes. */
export interface GeneratedSecrets {
  /** Present only if it was generated. */
  admin_password?: string;
  api_key?: string;
  portal_user?: { username: string; password: string };
}

export interface FirstStart {
  /** False on every later start, which creates nothing. */
  readonly first: boolean;
  readonly made: GeneratedSecrets;
  /** Names of the created models. */
  readonly models: string[];
  /** On later starts: a system admin, as long as none has signed in yet. Their password may have been lost with the first start's output. */
  readonly notSignedInYet: string | null;
}

const ADMIN = "admin";
const DEFAULT = "default";
const PORTAL_USER = "user";
const ECHO = "echo";
const GATEWAY: Actor = { id: null, username: null, role: null, clientIp: null, requestId: null };
const LATER: FirstStart = { first: false, made: {}, models: [], notSignedInYet: null };

/**
 * Creates the records of a first start in an empty store, all or nothing. A store is new until it has a system admin, who
 * can never be deleted, so later starts create nothing, even for provider variables set since: whatever an admin changed
 * or removed stays that way. Safe if two processes start at once.
 */
export async function firstStart(deps: FirstStartDeps): Promise<FirstStart> {
  if (await systemAdminExists(deps.directory.db)) {
    const isKnown = deps.bootstrapAdminPassword !== undefined;
    return { ...LATER, notSignedInYet: isKnown ? null : await newSystemAdmin(deps.directory.db) };
  }
  const already = new Error("another process was first");
  try {
    return await write(deps.directory, GATEWAY, async (change) => {
      await lockFirstStart(change.trx);
      if (await systemAdminExists(change.trx)) throw already;
      return makeRecords(change, deps);
    });
  } catch (error) {
    if (error === already) return LATER;
    throw error;
  }
}

/** Of a process that the first one started, which may be ready before that one creates the records. */
export const laterStart = (): Promise<FirstStart> => Promise.resolve(LATER);

async function makeRecords(change: Write, deps: FirstStartDeps): Promise<FirstStart> {
  const made: GeneratedSecrets = {};
  const password = deps.bootstrapAdminPassword ?? newPassword();
  if (deps.bootstrapAdminPassword === undefined) made.admin_password = password;
  await adminUsers.create(change, null, { username: ADMIN, password });
  await tenants.create(change, null, { id: DEFAULT, name: DEFAULT, display_name: "Default" });
  if (!deps.quickstart) return { first: true, made, models: [], notSignedInYet: null };

  const group = await resourceGroups.create(change, DEFAULT, { name: DEFAULT, display_name: "Default" });
  made.api_key = (await createApiKey(change, DEFAULT, group.id, { name: "quick start" })).key_value;
  const user = { username: PORTAL_USER, password: newPassword() };
  await endUsers.create(change, DEFAULT, { ...user, primary_group_id: group.id });
  made.portal_user = user;

  const found = KNOWN_PROVIDERS.flatMap((known) => providerHere(known, deps.env));
  if (found.length === 0) await makeEcho(change, group.id);
  for (const provider of found) await makeProvider(change, group.id, provider);
  return { first: true, made, notSignedInYet: null, models: found.length === 0 ? [ECHO] : found.flatMap(({ known }) => known.models) };
}

interface ProviderHere {
  readonly known: KnownProvider;
  readonly about: CatalogProvider;
  readonly apiKey: string | undefined;
  readonly baseUrl: string;
}

function providerHere(known: KnownProvider, env: FirstStartDeps["env"]): ProviderHere[] {
  const value = env[known.variable]?.trim() ?? "";
  if (value === "") return [];
  const about = catalogProvider(known.provider_key);
  if (about === undefined) throw new Error(`the catalog does not know the provider ${known.provider_key}`);
  if (known.isHost === true) return [{ known, about, apiKey: undefined, baseUrl: checked(known.variable, () => hostAddress(value)) }];
  const moved = known.baseUrlVariable === undefined ? "" : (env[known.baseUrlVariable]?.trim() ?? "");
  const baseUrl = checked(known.baseUrlVariable ?? "", () => (moved === "" ? (about.base_url ?? "") : moved).replace(/\/+$/, ""));
  return [{ known, about, apiKey: value, baseUrl }];
}

/** The address; throws a `ConfigurationError` that names the variable it came from. */
function checked(variable: string, read: () => string): string {
  try {
    return httpUrl.parse(read());
  } catch {
    throw new ConfigurationError(`${variable} must be an http or https address without user, query and fragment`);
  }
}

async function makeProvider(change: Write, groupId: string, { known, about, apiKey, baseUrl }: ProviderHere): Promise<void> {
  const key = apiKey === undefined ? {} : { api_key: apiKey };
  await providers.create(change, DEFAULT, {
    provider_key: known.provider_key,
    name: about.name,
    api_format: about.api_format,
    base_url: baseUrl,
    ...key,
  });
  for (const name of known.models) await models.create(change, DEFAULT, { name, provider: known.provider_key, group_ids: [groupId] });
}

async function makeEcho(change: Write, groupId: string): Promise<void> {
  await providers.create(change, DEFAULT, { provider_key: ECHO, name: "Echo", api_format: ECHO });
  await models.create(change, DEFAULT, {
    name: ECHO,
    provider: ECHO,
    group_ids: [groupId],
    description: "Answers with the caller's own last message. No model: it is there so that the first call works offline.",
    // Free, as opposed to unpriced.
    input_cost_per_million_tokens: 0,
    output_cost_per_million_tokens: 0,
  });
}
