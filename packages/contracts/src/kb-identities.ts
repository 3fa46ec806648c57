import { z } from "zod";
import { pageQuery, recordId, timestamp } from "./conventions.ts";

export const connectorType = z
  .enum(["directory", "s3", "git"])
  .describe("where documents come from: a directory of the gateway's machine, a bucket, a Git repository");

const written = {
  end_user_id: recordId,
  connector_type: connectorType,
  source_identity: z
    .string()
    .trim()
    .min(1)
    .max(300)
    .refine((identity) => identity !== "*", "may not be *, which is everybody")
    .describe("the end user's identity there, as its permissions name it: a user or a group"),
};

export const kbIdentityCreate = z.strictObject(written).meta({ id: "KbIdentityCreate" });
export const kbIdentityUpdate = z
  .strictObject({ connector_type: written.connector_type.optional(), source_identity: written.source_identity.optional() })
  .meta({ id: "KbIdentityUpdate" });

export const kbIdentity = z
  .strictObject({
    id: recordId,
    tenant_id: z.string(),
    end_user_id: recordId,
    connector_type: connectorType,
    source_identity: z.string(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "KbIdentity" });

export const kbIdentityQuery = z.strictObject({
  ...pageQuery.shape,
  end_user_id: recordId.optional(),
  connector_type: connectorType.optional(),
});

export type KbIdentity = z.output<typeof kbIdentity>;
export type KbIdentityCreate = z.output<typeof kbIdentityCreate>;
export type KbIdentityUpdate = z.output<typeof kbIdentityUpdate>;
export type KbIdentityQuery = z.output<typeof kbIdentityQuery>;
