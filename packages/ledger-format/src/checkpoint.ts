import { createHash } from "node:crypto";
import { isHash, isTimestamp } from "./canonical.ts";
import { openNote, type NoteKey, type NoteSigner } from "./signed-note.ts";

/** Name of the key in the signature line of every checkpoint. */
export const CHECKPOINT_KEY_NAME = "gw.audit";

/** How often the head of a chain is signed, at the latest. */
export const CHECKPOINT_ROWS = 1_000;
export const CHECKPOINT_MS = 60_000;

/**
 * A signed statement that the row at `chainSeq` has `rowHash`, and with it every row before. It is not a Merkle
 * checkpoint and proves nothing about single rows without those between.
 */
export interface Checkpoint {
  readonly chainId: string;
  readonly chainSeq: number;
  /** Lower-case hex. */
  readonly rowHash: string;
  /** ISO 8601 UTC with six decimals. */
  readonly time: string;
  /** First chain_seq since the checkpoint before; one past `chainSeq` when nothing was written since. */
  readonly firstSeq: number;
  /** `checkpointDigest` of the text of the checkpoint before, null for the first of a chain. */
  readonly previous: string | null;
}

/** The text a checkpoint signs, its last line feed included. */
export function checkpointText(checkpoint: Checkpoint): string {
  const hash = Buffer.from(checkpoint.rowHash, "hex").toString("base64");
  return (
    `gw.audit/${checkpoint.chainId}\n${checkpoint.chainSeq}\n${hash}\ntime ${checkpoint.time}\nfirst ` +
    `${checkpoint.firstSeq}\nprevious ${checkpoint.previous ?? "-"}\n`
  );
}

/** Base64 SHA-256 of a checkpoint's text: what the next one calls `previous`. */
export function checkpointDigest(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

const TEXT = /^gw\.audit\/([^\n]+)\n(\d{1,16})\n([A-Za-z0-9+/]{43}=)\ntime ([^\n]+)\nfirst (\d{1,16})\nprevious (-|[A-Za-z0-9+/]{43}=)\n$/;

/** Null when the text is not exactly what `checkpointText` writes. */
export function parseCheckpointText(text: string): Checkpoint | null {
  const match = TEXT.exec(text);
  if (match === null) return null;
  const [, chainId, seq, hash, time, first, previous] = match as unknown as [string, string, string, string, string, string, string];
  const checkpoint: Checkpoint = {
    chainId,
    chainSeq: Number(seq),
    rowHash: Buffer.from(hash, "base64").toString("hex"),
    time,
    firstSeq: Number(first),
    previous: previous === "-" ? null : previous,
  };
  if (!isHash(checkpoint.rowHash) || !isTimestamp(time) || checkpointText(checkpoint) !== text) return null;
  return checkpoint;
}

export function signCheckpoint(checkpoint: Checkpoint, signer: NoteSigner): string {
  return signer.sign(checkpointText(checkpoint));
}

/** A public key and when it may sign. Times are ISO 8601 UTC with six decimals; null leaves that side open. */
export interface TrustedKey extends NoteKey {
  readonly validFrom: string | null;
  readonly validTo: string | null;
}

export interface CheckpointOpened {
  /** Null when the note cannot be read at all. */
  readonly checkpoint: Checkpoint | null;
  /** `checkpointDigest` of its text. */
  readonly digest: string | null;
  /** Null when a key that may be trusted at the checkpoint's time signed it. */
  readonly invalid: string | null;
}

/** Reads a checkpoint and judges its signature. Never throws. */
export function openCheckpoint(note: string, keys: readonly TrustedKey[]): CheckpointOpened {
  const opened = openNote(note, keys);
  const checkpoint = opened.text === null ? null : parseCheckpointText(opened.text);
  if (opened.text === null || checkpoint === null)
    return {
      checkpoint: null,
      digest: null,
      invalid: "reason" in opened && opened.text === null ? opened.reason : "its text is not that of a checkpoint",
    };
  const digest = checkpointDigest(opened.text);
  if ("reason" in opened) return { checkpoint, digest, invalid: opened.reason };
  const { key } = opened;
  const early = key.validFrom !== null && checkpoint.time < key.validFrom;
  const late = key.validTo !== null && checkpoint.time > key.validTo;
  return { checkpoint, digest, invalid: early || late ? `key ${key.keyId} was not valid at ${checkpoint.time}` : null };
}
