import type { JsonWithDefault, NullableStamp, Stamp, WithDefault } from "./columns.ts";

export interface FileTable {
  id: string;
  tenant_id: string;
  resource_group_id: string;
  /** The owner, if a person made it. */
  end_user_id: string | null;
  kind: string;
  /** In the terms of OpenAI's files API. */
  purpose: string | null;
  mime_type: string;
  size_bytes: number;
  /** SHA-256 of the bytes. */
  content_hash: string;
  chat_id: string | null;
  model_id: string | null;
  display_name: string | null;
  created_at: Stamp;
  expires_at: NullableStamp;
  deleted_at: NullableStamp;
  access_count: WithDefault<number>;
  /** The ID of the directory that holds the bytes; null if every process reaches them, or if it is not known. */
  directory: string | null;
}

export interface BlobToRemoveTable {
  key: string;
  due_at: Stamp;
  directory: string | null;
}

export interface FileDirectoryTable {
  id: string;
  seen_at: Stamp;
}

/** Bytes of an upload that are stored under a key of their own. */
export interface UploadPiece {
  readonly key: string;
  readonly bytes: number;
}

export interface ResumableUploadTable {
  id: string;
  tenant_id: string;
  resource_group_id: string;
  end_user_id: string | null;
  display_name: string | null;
  size_bytes: number;
  received_bytes: WithDefault<number>;
  pieces: JsonWithDefault<UploadPiece[]>;
  expires_at: Stamp;
}
