import { z } from "zod";
import { recordId, timestamp } from "./conventions.ts";

const MAX_LOCALES = 32;

/** The subset of BCP 47 language tags that portals use. */
export const locale = z.string().regex(/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/, "must be a language tag such as en or pt-BR");
export const noticeSurface = z.enum(["banner", "inline", "both"]);

const texts = z
  .record(locale, z.string().min(1).max(2000))
  .refine((value) => Object.keys(value).length <= MAX_LOCALES, `must hold at most ${MAX_LOCALES} locales`);

export const exemption = z
  .strictObject({
    asserted: z.boolean(),
    basis: z.enum(["obvious_from_context", "authorised_by_law", "no_natural_person", "other"]),
    rationale: z.string().min(1).max(4000),
  })
  .meta({ id: "NoticeExemption" });

export const noticeConfigPut = z
  .strictObject({
    ai_system_id: recordId.nullable().optional().describe("the resource group it is for; left out: the tenant"),
    enabled: z.boolean().default(true),
    surface: noticeSurface.default("both"),
    texts: texts.default({}).describe("by locale; empty: the built-in text"),
    exemption: exemption.nullable().default(null),
  })
  .refine((body) => body.enabled || body.exemption?.asserted === true, {
    path: ["exemption"],
    message: "must be asserted where no notice is shown",
  })
  .meta({ id: "NoticeConfigPut" });

export const noticeConfig = z
  .strictObject({
    ai_system_id: recordId.nullable(),
    source: z.enum(["system", "tenant", "default"]).describe("the AI System or tenant it is for"),
    enabled: z.boolean(),
    surface: noticeSurface,
    texts: z.record(z.string(), z.string()),
    text_digests: z.record(z.string(), z.string()).describe("SHA-256 of each text's UTF-8 bytes, hex"),
    exemption: exemption.nullable(),
    updated_at: timestamp.nullable(),
  })
  .meta({ id: "NoticeConfig" });

export const noticeConfigQuery = z.strictObject({ ai_system_id: recordId.optional() });

export const noticeStatementQuery = z.strictObject({
  from: timestamp.optional(),
  to: timestamp.optional(),
  ai_system_id: recordId.optional(),
});

export const noticeStatement = z
  .strictObject({
    statement: z.literal("notice.before_first_turn"),
    met: z.number().int().describe("conversations whose notice record precedes their first assistant turn, in time and in the log"),
    of: z.number().int().describe("conversations that had their first assistant turn in the window"),
    from: timestamp.nullable(),
    to: timestamp.nullable(),
    not_met: z.array(z.string()).describe("handles of the first hundred conversations without one"),
  })
  .meta({ id: "NoticeStatement" });

export const noticePost = z.strictObject({
  conversation_handle: z.string().regex(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/, "must be a ULID"),
  locale,
  method: z.enum(["banner", "inline"]),
  text_sha256: z.string().regex(/^[0-9a-f]{64}$/, "must be a SHA-256 in lower-case hex"),
  ai_system_id: recordId.nullish(),
});

export type NoticeConfig = z.output<typeof noticeConfig>;
export type NoticeConfigPut = z.output<typeof noticeConfigPut>;
export type NoticePost = z.output<typeof noticePost>;
export type NoticeStatement = z.output<typeof noticeStatement>;
