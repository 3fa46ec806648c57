import { isDeepStrictEqual } from "node:util";
import type { ProviderRecord, ProviderCreate, ProviderQuery, ProviderUpdate, UpstreamKey } from "@gatehouse/contracts/providers";
import { formatsWith, providerFormat } from "@gatehouse/contracts/provider-formats";
import { uuid } from "../../kernel/ids.ts";
import { sealContext } from "../../kernel/secrets.ts";
import { forgetHealthOfProvider } from "../../store/models/models.ts";
import {
  keyedModelFollows,
  keyedModelOf,
  modelsOfProvider,
  providerByKey,
  providerStore,
  type ProviderInsert,
  type ProviderPatch,
  type ProviderRow,
} from "../../store/models/providers.ts";
import { catalogProvider } from "./catalog/known-providers.ts";
import { originOf } from "./model-entry.ts";
import { hintOf, invalidField, namedDependents, NAMES_LOOKED_FOR, records } from "../writes/records.ts";
import type { Write } from "../writes/write.ts";

function read(row: ProviderRow): ProviderRecord {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    provider_key: row.provider_key,
    name: row.name,
    api_format: row.api_format as ProviderRecord["api_format"],
    base_url: row.base_url,
    has_api_key: row.api_key_sealed !== null,
    api_key_hint: row.api_key_hint,
    headers: row.headers,
    pass_request_headers: row.pass_request_headers,
    pass_response_headers: row.pass_response_headers,
    region: row.region,
    max_tokens_parameter: row.max_tokens_parameter as ProviderRecord["max_tokens_parameter"],
    batch_mode: row.batch_mode as ProviderRecord["batch_mode"],
    storage_uri: row.storage_uri,
    storage_endpoint: row.storage_endpoint,
    storage_role_arn: row.storage_role_arn,
    enabled: row.enabled,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/**
 * The columns for an upstream key: encrypted for its record, plus its last characters; empty if the body does not set the
 * key. Throws a refusal if this provider format cannot use such a key.
 */
export function sealedKey(
  write: Write,
  table: "providers" | "models",
  id: string,
  apiFormat: string,
  apiKey: UpstreamKey | null | undefined,
): { api_key_sealed?: string | null; api_key_hint?: string | null } {
  if (apiKey === undefined) return {};
  if (apiKey === null) return { api_key_sealed: null, api_key_hint: null };
  const file = serviceAccountFile(apiKey);
  if (file !== null && providerFormat(apiFormat)?.keyFile !== true)
    throw invalidField(
      "api_key",
      `is the key file of a service account, which only api_format ${formatsWith(({ keyFile }) => keyFile)} takes`,
    );
  const text = file === null ? (apiKey as string) : JSON.stringify(file);
  const shown = file === null ? text : String(file.private_key_id ?? "");
  return { api_key_sealed: write.directory.secrets.seal(text, sealContext(table, id)), api_key_hint: hintOf(shown) };
}

/** The key that a body sets; undefined if the stored record already has it. */
export function newKey(
  { directory }: Write,
  table: "providers" | "models",
  { id, api_key_sealed: sealed }: { readonly id: string; readonly api_key_sealed: string | null },
  apiKey: UpstreamKey | null | undefined,
): UpstreamKey | null | undefined {
  if (apiKey == null) return sealed === null ? undefined : apiKey;
  const file = serviceAccountFile(apiKey);
  const text = file === null ? apiKey : JSON.stringify(file);
  return directory.secrets.openOrNull(sealed, sealContext(table, id)) === text ? undefined : apiKey;
}

/** Null if the key is plain text, which includes a base64-encoded key file. */
function serviceAccountFile(apiKey: UpstreamKey): Readonly<Record<string, unknown>> | null {
  if (typeof apiKey !== "string") return apiKey;
  try {
    const value: unknown = JSON.parse(apiKey);
    return typeof value === "object" && value !== null && "private_key" in value ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Throws a refusal if the address has a query that its format does not allow. */
export function checkAddress(apiFormat: string, address: string | null | undefined): void {
  if (address != null && address.includes("?") && providerFormat(apiFormat)?.addressQuery !== true)
    throw invalidField("base_url", `may carry a query only for api_format ${formatsWith(({ addressQuery }) => addressQuery)}`);
}

function baseUrl(format: string, given: string | null | undefined): string | null {
  checkAddress(format, given);
  if (given != null) return given;
  const usual = providerFormat(format)?.baseUrl ?? "required";
  if (usual === "required") throw invalidField("base_url", `is required for api_format ${format}`);
  return usual === "none" ? null : usual;
}

/** Throws a refusal if the format does not support provider batches. */
function batchMode(format: string, mode: ProviderRecord["batch_mode"] | undefined): ProviderRecord["batch_mode"] | undefined {
  if (mode === "provider" && providerFormat(format)?.batches !== true)
    throw invalidField("batch_mode", `may be provider only for api_format ${formatsWith(({ batches }) => batches)}`);
  return mode;
}

type StorageFields = Pick<ProviderUpdate, "storage_uri" | "storage_endpoint" | "storage_role_arn">;

/** The storage members set in a body, or all of those of a record. */
function storageFields({ storage_uri: uri, storage_endpoint: endpoint, storage_role_arn: role }: StorageFields): StorageFields {
  return {
    ...(uri !== undefined && { storage_uri: uri }),
    ...(endpoint !== undefined && { storage_endpoint: endpoint }),
    ...(role !== undefined && { storage_role_arn: role }),
  };
}

/** Throws a refusal if the format cannot use a bucket, or needs one for batches that is missing. */
function storageOf(
  format: string,
  { storage_uri: uri = null, storage_endpoint: endpoint = null, storage_role_arn: role = null, batch_mode: mode }: ProviderUpdate,
) {
  const storage = providerFormat(format)?.storage ?? null;
  const of = (holds: (one: NonNullable<typeof storage>) => boolean) => formatsWith((one) => one.storage !== null && holds(one.storage));
  if (uri !== null && !uri.startsWith(`${storage?.scheme}://`))
    throw invalidField(
      "storage_uri",
      storage === null
        ? `may be set only for api_format ${of(() => true)}`
        : `must begin with ${storage.scheme}:// for api_format ${format}`,
    );
  if (endpoint !== null && storage === null) throw invalidField("storage_endpoint", `may be set only for api_format ${of(() => true)}`);
  if (role !== null && storage?.role !== true)
    throw invalidField("storage_role_arn", `may be set only for api_format ${of((one) => one.role)}`);
  if (mode === "provider" && storage !== null) {
    if (uri === null) throw invalidField("storage_uri", `is required for batch_mode provider of api_format ${format}`);
    if (storage.role && role === null)
      throw invalidField("storage_role_arn", `is required for batch_mode provider of api_format ${format}`);
  }
  return { storage_uri: uri, storage_endpoint: endpoint, storage_role_arn: role };
}

export const providers = records<
  ProviderRow,
  ProviderInsert,
  ProviderPatch,
  ProviderRecord,
  ProviderCreate,
  ProviderUpdate,
  ProviderQuery,
  string
>({
  resource: "providers",
  noun: "provider",
  store: providerStore,
  read,
  tenantOf: (row) => row.tenant_id,
  takenBy: async (write, tenantId, candidate) => (await providerByKey(write.trx, tenantId, candidate.provider_key))?.id,
  async toInsert(write, tenantId, body) {
    const id = uuid();
    return {
      id,
      tenant_id: tenantId,
      provider_key: body.provider_key,
      name: body.name ?? body.provider_key,
      api_format: body.api_format,
      base_url: baseUrl(body.api_format, body.base_url),
      headers: JSON.stringify(body.headers ?? {}),
      pass_request_headers: JSON.stringify(body.pass_request_headers ?? []),
      pass_response_headers: JSON.stringify(body.pass_response_headers ?? []),
      region: body.region ?? null,
      max_tokens_parameter: body.max_tokens_parameter ?? null,
      batch_mode: batchMode(body.api_format, body.batch_mode) ?? "gateway",
      ...storageOf(body.api_format, body),
      enabled: body.enabled ?? true,
      api_key_sealed: null,
      api_key_hint: null,
      ...sealedKey(write, "providers", id, body.api_format, body.api_key),
      created_at: write.now,
      updated_at: write.now,
    };
  },
  async toPatch(write, _tenantId, row, body) {
    const { api_key: writtenKey, headers, pass_request_headers: sent, pass_response_headers: answered, base_url: given, ...rest } = body;
    const apiKey = newKey(write, "providers", row, writtenKey);
    const address = given === undefined ? row.base_url : given;
    // An admin who may write providers may not read keys, so a key must not be sent to another host.
    if (originOf(address) !== originOf(row.base_url)) {
      if (writtenKey === undefined && row.api_key_sealed !== null)
        throw invalidField("api_key", "must be sent again when base_url moves to another host");
      if (await keyedModelFollows(write.trx, row.id))
        throw invalidField("base_url", "cannot move to another host while a model of this provider has a key of its own for it");
    }
    const stands = isDeepStrictEqual(
      [address, headers ?? row.headers, body.api_format ?? row.api_format],
      [row.base_url, row.headers, row.api_format],
    );
    if (!stands || apiKey !== undefined) await forgetHealthOfProvider(write.trx, row.id);
    const mode = body.batch_mode ?? (row.batch_mode as ProviderRecord["batch_mode"]);
    batchMode(body.api_format ?? row.api_format, mode);
    const storage = storageOf(body.api_format ?? row.api_format, { ...storageFields(row), ...storageFields(body), batch_mode: mode });
    // The bucket's credential is sent there too.
    if (originOf(storage.storage_endpoint) !== originOf(row.storage_endpoint)) {
      if (writtenKey === undefined && row.api_key_sealed !== null)
        throw invalidField("api_key", "must be sent again when storage_endpoint moves to another host");
      if (await keyedModelOf(write.trx, row.id))
        throw invalidField("storage_endpoint", "cannot move to another host while a model of this provider has a key of its own");
    }
    return {
      ...rest,
      ...(headers === undefined ? {} : { headers: JSON.stringify(headers) }),
      ...(sent === undefined ? {} : { pass_request_headers: JSON.stringify(sent) }),
      ...(answered === undefined ? {} : { pass_response_headers: JSON.stringify(answered) }),
      base_url: baseUrl(body.api_format ?? row.api_format, address),
      ...sealedKey(write, "providers", row.id, body.api_format ?? row.api_format, apiKey),
      updated_at: write.now,
    };
  },
  dependents: async (write, row) => namedDependents("models", await modelsOfProvider(write.trx, row.id, NAMES_LOOKED_FOR)),
  notify: (write, row) => write.notify(row.tenant_id, "policy"),
});

/**
 * The provider to serve a new model. If the tenant lacks a record for a known provider, one is created, without a key
 * until an admin sets one there or on the model. Throws a refusal that names `provider`.
 */
export async function providerToUse(write: Write, tenantId: string, providerKey: string): Promise<ProviderRow> {
  const there = await providerByKey(write.trx, tenantId, providerKey);
  if (there !== undefined) return there;
  const known = catalogProvider(providerKey);
  if (known === undefined) throw invalidField("provider", "is the provider_key of no provider of this tenant");
  if (known.base_url === null)
    throw invalidField("provider", `has no record in this tenant, and the address of ${known.name} is one's own: make the record first`);
  await providers.create(write, tenantId, {
    provider_key: providerKey,
    name: known.name,
    api_format: known.api_format,
    base_url: known.base_url,
    ...(known.region === undefined ? {} : { region: known.region }),
  });
  const made = await providerByKey(write.trx, tenantId, providerKey);
  if (made === undefined) throw new Error("a provider is not there after it was made");
  return made;
}
