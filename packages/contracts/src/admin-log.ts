import { z } from "zod";
import { pageQuery, timestamp } from "./conventions.ts";

export const adminLogEntry = z
  .strictObject({
    id: z.string().describe("ULID, time-sortable"),
    tenant_id: z.string().nullable().describe("null: concerns no tenant"),
    at: timestamp,
    actor_id: z.string().nullable(),
    actor_username: z.string().nullable(),
    actor_role: z.string().nullable(),
    action: z
      .string()
      .describe(
        "create, update, delete, bind, unbind, rotate, revoke, login, login_failed, change_password, refused (an attempt; " +
          "`after` has the reason and, if one entry covers several, the number of `attempts` and `since` when), and the actions of " +
          "other records",
      ),
    resource: z.string(),
    resource_id: z.string().nullable(),
    before: z.unknown().describe("the record before, secrets masked"),
    after: z.unknown().describe("the record after, secrets masked"),
    client_ip: z.string().nullable(),
    request_id: z.string().nullable(),
    chain_seq: z.number().int().nullable().describe("place in the chain; null on entries from before it"),
    entry_hash: z.string().nullable(),
  })
  .meta({ id: "AdminLogEntry" });

export const adminLogQuery = z.strictObject({
  ...pageQuery.shape,
  resource: z.string().max(100).optional(),
  resource_id: z.string().max(100).optional(),
  action: z.string().max(100).optional(),
  actor_id: z.uuid().optional(),
  from: timestamp.optional(),
  to: timestamp.optional(),
});

export type AdminLogEntry = z.output<typeof adminLogEntry>;
