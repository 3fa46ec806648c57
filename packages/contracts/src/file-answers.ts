import { z } from "zod";
import { timestamp } from "./conventions.ts";

const text = z.string().nullable();
const count = z.number().int();

/** A stored file in the gateway's own format. */
export const fileRecord = z
  .strictObject({
    id: z.string(),
    tenant_id: z.string(),
    kind: z.enum(["image", "audio", "video", "document", "batch_input", "batch_output", "other"]),
    mime_type: z.string().describe("what the bytes themselves say"),
    size_bytes: count,
    content_hash: z.string().describe("SHA-256 of the bytes, hexadecimal"),
    chat_id: text,
    model_id: text,
    display_name: text,
    created_at: timestamp,
    expires_at: timestamp.nullable(),
    deleted_at: timestamp.nullable(),
    access_count: count,
  })
  .meta({ id: "File" });

export const fileForm = z
  .strictObject({
    file: z.string().meta({ format: "binary" }),
    kind: fileRecord.shape.kind,
    chat_id: z.string().max(255).optional(),
    model_id: z.string().max(255).optional(),
    display_name: z.string().max(255).optional(),
  })
  .meta({ id: "FileForm" });

export const filePage = z
  .strictObject({ files: z.array(fileRecord), total: count, page: count, page_size: count })
  .meta({ id: "FilePage" });

export const filePageQuery = z.strictObject({
  kind: fileRecord.shape.kind.optional(),
  chat_id: z.string().optional(),
  page: count.optional(),
  page_size: count.max(200).optional(),
});

export const signedAddress = z
  .strictObject({ url: z.string(), expires_in_secs: count, file_id: z.string(), mime_type: z.string() })
  .meta({ id: "SignedAddress" });

export const signedAddressQuery = z.strictObject({ expires_in_secs: count.min(1).max(86_400).optional() });

export const fileDeleted = z.strictObject({ id: z.string(), deleted: z.literal(true) }).meta({ id: "FileDeleted" });

export const filesOfChatQuery = z.strictObject({ chat_id: z.string() });

export const filesDeleted = z.strictObject({ deleted: count }).meta({ id: "FilesDeleted" });

/** A stored file in OpenAI's format. */
export const fileObject = z
  .strictObject({
    id: z.string(),
    object: z.literal("file"),
    bytes: count,
    created_at: count,
    expires_at: count.nullable(),
    filename: z.string(),
    purpose: z.string(),
    status: z.literal("processed"),
    status_details: z.null(),
  })
  .meta({ id: "FileObject" });

export const fileObjectForm = z
  .strictObject({
    file: z.string().meta({ format: "binary" }),
    purpose: z.enum(["assistants", "batch", "fine-tune", "vision", "user_data", "evals"]),
  })
  .meta({ id: "FileObjectForm" });

export const fileObjectList = z
  .strictObject({ object: z.literal("list"), data: z.array(fileObject), first_id: text, last_id: text, has_more: z.boolean() })
  .meta({ id: "FileObjectList" });

export const fileObjectListQuery = z.strictObject({
  purpose: z.string().optional(),
  limit: count.optional(),
  order: z.enum(["asc", "desc"]).optional(),
  after: z.string().optional(),
});

export const fileObjectDeleted = z
  .strictObject({ id: z.string(), object: z.literal("file"), deleted: z.literal(true) })
  .meta({ id: "FileObjectDeleted" });

/** A stored file in Anthropic's format. */
export const fileMetadata = z
  .strictObject({
    id: z.string(),
    type: z.literal("file"),
    filename: z.string(),
    mime_type: z.string(),
    size_bytes: count,
    created_at: timestamp,
    expires_at: timestamp.nullable(),
    downloadable: z.literal(true),
  })
  .meta({ id: "FileMetadata" });

export const fileMetadataForm = z
  .strictObject({ file: z.string().meta({ format: "binary" }), expires_in_seconds: count.min(3_600).max(7_776_000).optional() })
  .meta({ id: "FileMetadataForm" });

export const fileMetadataList = z
  .strictObject({
    data: z.array(fileMetadata),
    next_page: text.describe("`page` of the next one"),
    has_more: z.boolean(),
    first_id: text,
    last_id: text,
  })
  .meta({ id: "FileMetadataList" });

export const fileMetadataListQuery = z.strictObject({
  page: z.string().optional(),
  limit: count.max(1_000).optional(),
  after_id: z.string().optional(),
  before_id: z.string().optional(),
  ids: z.array(z.string()).max(100).optional(),
});

export const fileMetadataDeleted = z.strictObject({ id: z.string(), type: z.literal("file_deleted") }).meta({ id: "FileMetadataDeleted" });

/** A stored file in Google's format. */
export const geminiFile = z
  .strictObject({
    name: z.string().describe("`files/` and its id"),
    displayName: z.string(),
    mimeType: z.string(),
    sizeBytes: z.string(),
    createTime: timestamp,
    updateTime: timestamp,
    expirationTime: timestamp.optional(),
    sha256Hash: z.string().describe("Base64"),
    uri: z.string().describe("The ID by which messages refer to it"),
    state: z.literal("ACTIVE"),
    source: z.literal("UPLOADED"),
  })
  .meta({ id: "GeminiFile" });

export const geminiFilePage = z
  .strictObject({ files: z.array(geminiFile), nextPageToken: z.string().optional() })
  .meta({ id: "GeminiFilePage" });

export const geminiFilePageQuery = z.strictObject({ pageSize: count.max(100).optional(), pageToken: z.string().optional() });

/** Answer to the last chunk of a resumable upload; earlier chunks are answered with headers only. */
export const geminiFileUploaded = z.strictObject({ file: geminiFile }).meta({ id: "GeminiFileUploaded" });

export const geminiUploadQuery = z.strictObject({ upload_id: z.string().optional(), upload_protocol: z.string().optional() });

export const geminiFileDeleted = z.strictObject({}).meta({ id: "GeminiFileDeleted" });
