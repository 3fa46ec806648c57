import { z } from "zod";
import { pageQuery, recordId, recordName, search, timestamp } from "./conventions.ts";

/** A path relative to a folder that cannot escape it. */
const pathBelow = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .refine(
    (path) => !path.startsWith("/") && !path.includes("://") && !path.includes("\0") && !path.split(/[/\\]/).includes(".."),
    "must be a path below the folder",
  );

/** Address of a remote repository; it must not contain credentials. */
const repositoryAddress = z
  .string()
  .trim()
  .max(500)
  .refine((address) => {
    const url = URL.parse(address);
    if (url === null || url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") return false;
    return url.protocol === "https:" || (url.protocol === "http:" && /^(?:127\.0\.0\.1|localhost|\[::1\])$/.test(url.hostname));
  }, "must be an address such as https://git.example/team/handbook.git, without a user, a password or parameters");

const written = {
  location: z
    .union([repositoryAddress, pathBelow])
    .describe(
      "the directory, folder of the bucket or Git repository, below the tenant's own in GW_KNOWLEDGE_DIR or GW_KNOWLEDGE_URL; of a Git " +
        "repository also its https address",
    ),
  credential: z
    .string()
    .trim()
    .min(1)
    .max(2_000)
    .nullable()
    .optional()
    .describe("credential for a Git repository at an https address: user:password, or a token alone; never shown again"),
  mapping_file: pathBelow
    .optional()
    .describe("JSON file there that says who may read what, by path prefix; default at creation: permissions.json"),
  every_minutes: z.number().int().min(1).max(10_080).optional().describe("minutes between runs; default at creation: 15"),
  enabled: z.boolean().optional().describe("default at creation: true"),
};

export const kbConnectorCreate = z
  .strictObject({ name: recordName, knowledge_base_id: recordId, connector_type: z.enum(["directory", "s3", "git"]), ...written })
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
    has_credential: z.boolean(),
    every_minutes: z.number().int(),
    enabled: z.boolean(),
    synced_at: timestamp.nullable().describe("when it was last read completely"),
    problem: z.string().nullable().describe("why the last attempt failed"),
    skipped: z.array(z.string()).describe("files that were skipped, each with the reason; at most 100"),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "KbConnector" });

export const kbConnectorQuery = z.strictObject({ ...pageQuery.shape, search });

export type KbConnector = z.output<typeof kbConnector>;
export type KbConnectorCreate = z.output<typeof kbConnectorCreate>;
export type KbConnectorUpdate = z.output<typeof kbConnectorUpdate>;
export type KbConnectorQuery = z.output<typeof kbConnectorQuery>;
