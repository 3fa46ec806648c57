import { z } from "zod";
import { pageQuery, recordId, recordName, search, timestamp } from "./conventions.ts";

/** A path below a folder, which cannot lead out of it. */
const pathBelow = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .refine(
    (path) => !path.startsWith("/") && !path.includes("\0") && !path.split(/[/\\]/).includes(".."),
    "must be a path below the folder",
  );

const written = {
  location: pathBelow.describe("the directory or Git repository, below the tenant's folder in GW_KNOWLEDGE_DIR"),
  mapping_file: pathBelow
    .optional()
    .describe("JSON file there: who reads what, by the beginnings of paths; permissions.json when left out at creation"),
  every_minutes: z.number().int().min(1).max(10_080).optional().describe("how often it is looked at; 15 when left out at creation"),
  enabled: z.boolean().optional().describe("true when left out at creation"),
};

export const kbConnectorCreate = z
  .strictObject({ name: recordName, knowledge_base_id: recordId, connector_type: z.enum(["directory", "git"]), ...written })
  .meta({ id: "KbConnectorCreate" });
export const kbConnectorUpdate = z
  .strictObject({ name: recordName.optional(), ...written, location: written.location.optional() })
  .meta({ id: "KbConnectorUpdate" });

export const kbConnector = z
  .strictObject({
    id: recordId,
    tenant_id: z.string(),
    name: z.string(),
    knowledge_base_id: recordId,
    connector_type: z.string(),
    location: z.string(),
    mapping_file: z.string(),
    every_minutes: z.number().int(),
    enabled: z.boolean(),
    synced_at: timestamp.nullable().describe("when it was last looked at to the end"),
    problem: z.string().nullable().describe("why it could not be, the last time"),
    skipped: z.array(z.string()).describe("files that were not taken, each with the reason; at most 100"),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "KbConnector" });

export const kbConnectorQuery = z.strictObject({ ...pageQuery.shape, search });

export type KbConnector = z.output<typeof kbConnector>;
export type KbConnectorCreate = z.output<typeof kbConnectorCreate>;
export type KbConnectorUpdate = z.output<typeof kbConnectorUpdate>;
export type KbConnectorQuery = z.output<typeof kbConnectorQuery>;
