import { createHash } from "node:crypto";
import { isHash, isTimestamp } from "./canonical.ts";
import { openNote, type NoteKey, type NoteSigner } from "./signed-note.ts";

/** Key name in the signature line of every checkpoint. */
export const CHECKPOINT_KEY_NAME = "gw.audit";

/** The head of a chain is signed after this many rows or milliseconds, whichever comes first. */
export const CHECKPOINT_ROWS = 1_000;
export const CHECKPOINT_MS = 60_000;

/**
 * A signed statement that the row at `chainSeq` has `rowHash`, which commits to every row before it. It is not a Merkle checkpoint: single
 * rows cannot be proven without the rows in between.
 */
export interface Checkpoint {
  readonly chainId: string;
  readonly chainSeq: number;
  /** Lower-case hex. */
  readonly rowHash: string;
  /** ISO 8601 UTC with six decimals. */
  readonly time: string;
  /** First chain_seq after the previous checkpoint; `chainSeq` + 1 if no rows were written since. */
  readonly firstSeq: number;
  /** `checkpointDigest` of the previous checkpoint's text; null for the first of a chain. */
  readonly previous: string | null;
}

/** The signed text of a checkpoint, including its final line feed. */
export function checkpointText(checkpoint: Checkpoint): string {
  const hash = Buffer.from(checkpoint.rowHash, "hex").toString("base64");
  return (
    `gw.audit/${checkpoint.chainId}\n${checkpoint.chainSeq}\n${hash}\ntime ${checkpoint.time}\nfirst ` +
    `${checkpoint.firstSeq}\nprevious ${checkpoint.previous ?? "-"}\n`
  );
}

/** Base64 SHA-256 of a checkpoint's text, which the next one has as `previous`. */
export function checkpointDigest(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

const TEXT = /^gw\.audit\/([^\n]+)\n(\d{1,16})\n([A-Za-z0-9+/]{43}=)\ntime ([^\n]+)\nfirst (\d{1,16})\nprevious (-|[A-Za-z0-9+/]{43}=)\n$/;

/** Null unless the text is exactly what `checkpointText` writes. */
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

/** A public key and its validity period. Times are ISO 8601 UTC with six decimals; null leaves that end open. */
export interface TrustedKey extends NoteKey {
  readonly validFrom: string | null;
  readonly validTo: string | null;
}

export interface CheckpointOpened {
  /** Null if the note cannot be parsed. */
  readonly checkpoint: Checkpoint | null;
  /** `checkpointDigest` of the note's text; null if it cannot be parsed. */
  readonly digest: string | null;
  /** Why it is not trusted; null if it is signed by a key trusted at the checkpoint's time. */
  readonly invalid: string | null;
}

/** Parses a checkpoint and verifies its signature. Never throws. */
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
