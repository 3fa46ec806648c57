import { z } from "zod";

/** What every admin resource shares: names, lists and errors. Bodies and queries are closed: an unknown field is refused. */

/** What breaks a line of a log, steers a terminal, or shows what follows in another order than it is written in. */
const STEERING = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/u;
const ALL_STEERING = new RegExp(STEERING, "gu");
/** A name that came from elsewhere and is nobody's to refuse. */
export const withoutSteering = (name: string): string => name.replaceAll(ALL_STEERING, "");
/** What a record is called by; what is described may have more lines than one. */
export const nameText = (longest: number) =>
  z
    .string()
    .trim()
    .max(longest)
    .refine((text) => !STEERING.test(text), "must have no control characters and none that turn the direction of text around");
export const recordName = nameText(200).min(1);
export const displayName = nameText(200).nullable();
export const description = z.string().max(4000).nullable();
/** What is drawn as nothing, letters and marks among it, turns the text around, or is a space that looks like the one of the keyboard. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]|[^\P{Z} \u3000]|\u2800/u;
/** Whether a name holds what nobody sees, which makes it look like another's. */
export const hidesMarks = (name: string): boolean => UNSEEN.test(name);
/** The first moment there is here. */
export const FIRST_MOMENT = Date.parse("0001-01-01T00:00:00Z");
const LAST_MOMENT = Date.parse("9999-12-31T23:59:59.999Z");

/** PostgreSQL knows no year 0 and no offset of 16 hours, which no place on Earth has either. */
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
export const httpUrl = z
  .url({ protocol: /^https?$/, error: "must be an http or https address" })
  .max(2000)
  .refine((text) => plainAddress(text), "must carry no user, password, query or fragment");

/** With the version of its API in the query, where a vendor wants it there. */
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

/** Both conventions: `page` and `page_size`, or `limit` and `offset`; without any, the first 50. */
export const pageQuery = z.strictObject({
  page: z.coerce.number().int().min(1).max(1_000_000).optional().describe("page, from 1"),
  page_size: z.coerce.number().int().min(1).max(MAX_PAGE).optional().describe("items on a page, at most 200; default: 50"),
  limit: z.coerce.number().int().min(1).max(MAX_PAGE).optional().describe("instead of page_size: how many items, at most 200"),
  offset: z.coerce.number().int().min(0).max(100_000_000).optional().describe("instead of page: how many items to skip"),
});

export type PageQuery = z.output<typeof pageQuery>;

export const search = z.string().max(200).optional().describe("part of a name, case-insensitive");

/** A list under the plural name of its resource. */
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

/** For a path that names its record; other paths take it as query, body member or X-Tenant-ID. */
export const tenantIdOfCaller = z
  .string()
  .min(1)
  .max(63)
  .optional()
  .describe("for system admins: the tenant meant; without it the tenant `default`, or the only one there is");
