import { z } from "zod";
import { newPasswordText, passwordText } from "./admin-users.ts";
import { displayName, queryFlag, recordId } from "./conventions.ts";
import { avatarUrl, endUserEmail, endUserMetadata, endUsername } from "./end-users.ts";

/** Bodies and queries of the end-user portal API (interface 4.4). Strict: unknown fields are refused. */

const code = z.string().trim().min(1).max(40);

/** Largest registration body in bytes: a 5 MB photo in base64 plus the other members. */
export const REGISTRATION_BYTES = 7_100_000;

/** Base64 of at most 5 MB. This only bounds the text by the body size; the exact limit is checked when the photo is read. */
const photoText = z.string().max(REGISTRATION_BYTES);

export const registration = z
  .strictObject({
    username: endUsername,
    password: newPasswordText,
    email: endUserEmail.optional(),
    display_name: displayName.optional(),
    avatar_url: avatarUrl.optional(),
    photo_base64: photoText.nullish(),
    photo_mime_type: z.enum(["image/jpeg", "image/png", "image/webp", "image/gif"]).nullish(),
  })
  .refine((body) => body.photo_mime_type == null || body.photo_base64 != null, {
    path: ["photo_base64"],
    message: "is required with photo_mime_type",
  });

export const portalLogin = z.strictObject({ username: z.string().min(1).max(400), password: passwordText });
export const secondFactorLogin = z.strictObject({ temp_token: z.string().min(1).max(2000), code });
export const portalPasswordChange = z.strictObject({ current_password: passwordText, new_password: newPasswordText });
export const secondFactorBegin = z.strictObject({
  password: passwordText.optional().describe("the user's password, if they have one and signed in more than 15 minutes ago or at a page"),
});
export const secondFactorCode = z.strictObject({ code });
export const secondFactorDisable = z
  .strictObject({ code: code.optional(), password: passwordText.optional() })
  .refine((body) => body.code !== undefined || body.password !== undefined, { path: ["code"], message: "is required, or password" });

export const profileUpdate = z.strictObject({
  email: endUserEmail.optional(),
  display_name: displayName.optional(),
  metadata: endUserMetadata.optional(),
});
export const primaryGroupChoice = z.strictObject({ group_id: recordId });

const flag = queryFlag.transform((value) => value === "true");
const page = {
  page: z.coerce.number().int().min(1).max(1_000_000).default(1),
  page_size: z.coerce.number().int().min(1).max(200).default(50),
};

export const portalModelQuery = z.strictObject({
  group_id: recordId.optional(),
  enabled_only: flag.optional(),
  healthy_only: flag.optional(),
  provider: z.string().max(200).optional(),
  modes: z.string().max(500).optional(),
});
export const groupFilterQuery = z.strictObject({ group_id: recordId.optional(), enabled_only: flag.optional() });
/** Passages as `<document ID>` and position, the form in which an answer's X-Gw-Passages header names them. */
export const passagesQuery = z.strictObject({
  ids: z
    .string()
    .max(4_000)
    .regex(
      /^[0-9a-f-]{36}:\d{1,6}(?:,[0-9a-f-]{36}:\d{1,6}){0,49}$/,
      "must be a comma list of at most 50 passages, each document_id:ordinal",
    )
    .describe("at most 50, each document_id:ordinal, with commas between them"),
});
export const inheritedQuery = z.strictObject({ include_inherited: flag.optional() });
export const portalApprovalQuery = z.strictObject({
  status: z.enum(["pending", "approved", "rejected", "expired", "all"]).optional(),
  ...page,
});
export const appResourceQuery = z.strictObject({
  uri: z
    .string()
    .max(2000)
    .regex(/^ui:\/\/./, "must be a ui:// address"),
});
export const portalPageQuery = z.strictObject(page);
export const notificationQuery = z.strictObject({
  notification_type: z.string().max(100).optional(),
  unread_only: flag.optional(),
  ...page,
});
export const runFeedback = z.strictObject({
  score: z.union([z.literal(1), z.literal(-1), z.literal(0)], "must be 1, -1 or 0"),
  comment: z.string().max(4000).nullable().optional(),
});

export type Registration = z.output<typeof registration>;
export type ProfileUpdate = z.output<typeof profileUpdate>;
