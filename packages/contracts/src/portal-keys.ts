import { z } from "zod";
import { mintedApiKey } from "./api-keys.ts";
import { recordName, timestamp } from "./conventions.ts";

export const ownKeyCreate = z
  .strictObject({ name: recordName, expires_at: timestamp.nullable().optional().describe("null or left out: never") })
  .meta({ id: "OwnKeyCreate" });

const { id, name, key_hint, status, expires_at, revoked_at, last_used_at, created_at } = mintedApiKey.shape;

export const ownKey = z
  .strictObject({ id, name, key_hint, status, expires_at, revoked_at, last_used_at, created_at })
  .meta({ id: "OwnKey" });

export const ownKeys = z
  .strictObject({
    api_keys: z.array(ownKey),
    total: z.number().int(),
    may_create: z.boolean().describe("whether the tenant lets people create their own keys"),
  })
  .meta({ id: "OwnKeys" });

const { key_value, full_key, key } = mintedApiKey.shape;
export const mintedOwnKey = z.strictObject({ ...ownKey.shape, key_value, full_key, key }).meta({ id: "MintedOwnKey" });

export type OwnKeyCreate = z.output<typeof ownKeyCreate>;
export type OwnKey = z.output<typeof ownKey>;
export type OwnKeys = z.output<typeof ownKeys>;
export type MintedOwnKey = z.output<typeof mintedOwnKey>;
