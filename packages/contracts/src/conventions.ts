import { z } from "zod";

/** What every admin resource shares: names, lists and errors. Bodies and queries are strict: unknown fields are refused. */

/** Control and bidirectional characters: they break log lines, control terminals, or reorder the text that follows. */
const STEERING = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/u;
const ALL_STEERING = new RegExp(STEERING, "gu");
/** For names from external systems, which cannot be refused. */
export const withoutSteering = (name: string): string => name.replaceAll(ALL_STEERING, "");
/** A record's name. Descriptions, unlike names, may contain line breaks. */
export const nameText = (longest: number) =>
  z
    .string()
    .trim()
    .max(longest)
    .refine((text) => !STEERING.test(text), "must have no control characters and none that turn the direction of text around");
export const recordName = nameText(200).min(1);
export const displayName = nameText(200).nullable();
export const description = z.string().max(4000).nullable();
/** Invisible characters (including letters and marks drawn as nothing), bidirectional controls, and spaces that look like U+0020. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]|[^\P{Z} \u3000]|\u2800/u;
/** Whether a name contains invisible characters, which make it look like another name. */
export const hidesMarks = (name: string): boolean => UNSEEN.test(name);
/** The earliest timestamp accepted, in milliseconds since the epoch. */
export const FIRST_MOMENT = Date.parse("0001-01-01T00:00:00Z");
const LAST_MOMENT = Date.parse("9999-12-31T23:59:59.999Z");

/** PostgreSQL accepts neither year 0 nor an offset of 16 hours or more, which no time zone has. */
export const timestamp = z.iso
  .datetime({ offset: true })
  .refine(
    (text) =>
      !text.startsWith("0000") &&
      !/[+-](?:1[6-9]|2\d):\d\d$/.test(text) &&
      !(Date.parse(text) < FIRST_MOMENT) &&
      !(Date.parse(text) > LAST_MOMENT),
    "must be a time of a year and an offset that there are",
  )
  .describe("ISO 8601, UTC in answers");
export const recordId = z.uuid();
/** A boolean in a query string, in any case: Python's `requests` writes `True`. */
export const queryFlag = z.preprocess((value) => (typeof value === "string" ? value.toLowerCase() : value), z.enum(["true", "false"]));
export const httpUrl = z
  .url({ protocol: /^https?$/, error: "must be an http or https address" })
  .max(2000)
  .refine((text) => plainAddress(text), "must carry no user, password, query or fragment");

/** May have a query, because some vendors want the API version there. */
export const versionedUrl = z
  .url({ protocol: /^https?$/, error: "must be an http or https address" })
  .max(2000)
  .refine(
    (text) => plainAddress(text.replace(/\?api-version=[A-Za-z0-9._-]{1,50}$/, "")),
    "must carry no user, password, fragment or query, but for Azure's ?api-version=",
  );

function plainAddress(text: string): boolean {
  try {
    const url = new URL(text);
    return url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  } catch {
    return false;
  }
}

const MAX_PAGE = 200;

/** Both paging conventions: `page` and `page_size`, or `limit` and `offset`. Default: the first 50. */
export const pageQuery = z.strictObject({
  page: z.coerce.number().int().min(1).max(1_000_000).optional().describe("page, from 1"),
  page_size: z.coerce.number().int().min(1).max(MAX_PAGE).optional().describe("items on a page, at most 200; default: 50"),
  limit: z.coerce.number().int().min(1).max(MAX_PAGE).optional().describe("instead of page_size: how many items, at most 200"),
  offset: z.coerce.number().int().min(0).max(100_000_000).optional().describe("instead of page: how many items to skip"),
});

export type PageQuery = z.output<typeof pageQuery>;

export const search = z.string().max(200).optional().describe("part of a name, case-insensitive");

/** Schema of a list response, with the items under the resource's plural name. */
export function listOf<T extends z.ZodType>(key: string, item: T) {
  return z.object({
    [key]: z.array(item),
    total: z.number().int().describe("number of items on all pages"),
    page: z.number().int(),
    page_size: z.number().int(),
  });
}

export const errorBody = z
  .object({
    detail: z.string().describe("the problem, as text"),
    code: z.string().describe("the problem, for programs"),
    fields: z
      .array(z.object({ field: z.string(), message: z.string() }))
      .optional()
      .describe("each invalid field"),
    existing_id: z.string().optional().describe("of a 409: the record that is already there"),
    already_bound: z.array(z.string()).optional().describe("of a 409: the ids that are bound already"),
    dependents: z.array(z.string()).optional().describe("of a 409: what still needs the record"),
  })
  .meta({ id: "Error" });

/** For paths that identify the record; other paths take the tenant from the query, the body or X-Tenant-ID. */
export const tenantIdOfCaller = z
  .string()
  .min(1)
  .max(63)
  .optional()
  .describe("for system admins: the tenant meant; without it the tenant `default`, or the only one there is");
