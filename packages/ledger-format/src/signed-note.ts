import { createHash, createPrivateKey, createPublicKey, sign, verify, type KeyObject } from "node:crypto";

/**
 * Signed notes as C2SP defines them (c2sp.org/signed-note): text ending in a line feed, an empty line, and signature lines consisting of an
 * em dash, a key name, and the base64 of key ID (4 bytes) and Ed25519 signature (64 bytes).
 */

const ED25519 = 0x01;
// DER prefix of a SubjectPublicKeyInfo with an Ed25519 key.
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");
const SIGNATURE_LINE = /^\u2014 ([^ +\n]+) ([A-Za-z0-9+/]+={0,2})$/;

export interface NoteKey {
  readonly name: string;
  /** 8 hex digits. */
  readonly keyId: string;
  /** The 32 bytes of the Ed25519 public key, base64. */
  readonly publicKey: string;
}

export interface NoteSigner extends NoteKey {
  /** `text` must end in a line feed. Returns the complete note. */
  sign(text: string): string;
}

export type NoteOpened<K extends NoteKey> =
  | { readonly text: string; readonly key: K }
  | { readonly text: string | null; readonly reason: string };

/** A key as notes identify it. The ID is always computed, never trusted: it binds the name to the key. */
export function noteKey(name: string, publicKey: Uint8Array): NoteKey {
  if (publicKey.byteLength !== 32) throw new Error("an Ed25519 public key has 32 bytes");
  const id = createHash("sha256").update(`${name}\n`).update(Uint8Array.of(ED25519)).update(publicKey).digest("hex").slice(0, 8);
  return { name, keyId: id, publicKey: Buffer.from(publicKey).toString("base64") };
}

function rawPublicKey(key: KeyObject): Uint8Array {
  if (key.asymmetricKeyType !== "ed25519") throw new Error("the key is not an Ed25519 key");
  const publicKey = key.type === "private" ? createPublicKey(key) : key;
  return publicKey.export({ format: "der", type: "spki" }).subarray(SPKI_PREFIX.length);
}

/** `pem`: an Ed25519 private key. Throws if it is not one. */
export function noteSigner(name: string, pem: string): NoteSigner {
  const privateKey = createPrivateKey(pem);
  const key = noteKey(name, rawPublicKey(privateKey));
  const id = Buffer.from(key.keyId, "hex");
  return {
    ...key,
    sign(text) {
      if (!text.endsWith("\n")) throw new Error("the text of a note ends in a line feed");
      const signature = sign(null, Buffer.from(text), privateKey);
      return `${text}\n\u2014 ${name} ${Buffer.concat([id, signature]).toString("base64")}\n`;
    },
  };
}

/** Parses a public key file: PEM, or base64 of the 32 bytes. Throws if it is neither. */
export function readPublicKey(text: string): Uint8Array {
  const trimmed = text.trim();
  if (trimmed.startsWith("-----BEGIN")) return rawPublicKey(createPublicKey(trimmed));
  const bytes = Buffer.from(trimmed, "base64");
  if (bytes.byteLength !== 32 || bytes.toString("base64") !== trimmed)
    throw new Error("not a public key: expected PEM, or base64 of 32 bytes");
  return bytes;
}

const PEM = /-----BEGIN [^-]+-----[^]*?-----END [^-]+-----/g;

/**
 * Parses a file of one or more keys, each in a form that `readPublicKey` accepts, or the gateway's own list of its keys; after a
 * rotation, a chain has signatures of several.
 */
export function readPublicKeys(text: string): Uint8Array[] {
  const trimmed = text.trim();
  if (trimmed.startsWith("{")) return listedKeys(trimmed);
  return (trimmed.startsWith("-----BEGIN") ? (trimmed.match(PEM) ?? [trimmed]) : trimmed.split(/\s+/)).map(readPublicKey);
}

/** The keys in an answer of `GET /v1/admin/audit/keys`. */
function listedKeys(json: string): Uint8Array[] {
  const { keys } = JSON.parse(json) as { keys?: { public_key?: unknown }[] };
  if (!Array.isArray(keys) || keys.length === 0) throw new Error("not a list of public keys: expected the answer of /v1/admin/audit/keys");
  return keys.map((key) => readPublicKey(String(key.public_key)));
}

const keyObjects = new Map<string, KeyObject>();

/** `publicKey`: the 32 bytes in base64. */
export function keyObjectOf(publicKey: string): KeyObject {
  let object = keyObjects.get(publicKey);
  if (object === undefined) {
    if (keyObjects.size >= 64) keyObjects.clear();
    object = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, Buffer.from(publicKey, "base64")]), format: "der", type: "spki" });
    keyObjects.set(publicKey, object);
  }
  return object;
}

/**
 * Verifies a note with any of `keys`. Signatures by unknown keys are ignored; a bad signature by a known key rejects the note, whatever its
 * other signatures. `text` is null if the note is malformed.
 */
export function openNote<K extends NoteKey>(note: string, keys: readonly K[]): NoteOpened<K> {
  const split = note.lastIndexOf("\n\n");
  if (split < 0 || !note.endsWith("\n")) return { text: null, reason: "it is not a signed note" };
  const text = note.slice(0, split + 1);
  let opener: K | undefined;
  for (const line of note.slice(split + 2, -1).split("\n")) {
    const match = SIGNATURE_LINE.exec(line);
    if (match === null) return { text: null, reason: "it is not a signed note" };
    const bytes = Buffer.from(match[2] as string, "base64");
    // Decoders ignore the spare bits at the end of base64; accepting only the canonical encoding leaves no edit undetected.
    if (bytes.toString("base64") !== match[2]) return { text, reason: "a signature of it is not written as it was signed" };
    const keyId = bytes.subarray(0, 4).toString("hex");
    const known = keys.filter((key) => key.name === match[1] && key.keyId === keyId);
    if (known.length === 0) continue;
    const signer = known.find(
      (key) => bytes.byteLength === 68 && verify(null, Buffer.from(text), keyObjectOf(key.publicKey), bytes.subarray(4)),
    );
    if (signer === undefined) return { text, reason: `its signature by key ${keyId} is wrong` };
    opener ??= signer;
  }
  return opener === undefined ? { text, reason: "no known key signed it" } : { text, key: opener };
}

/** The text of a note, without checking signatures; null if it is malformed. */
export function noteText(note: string): string | null {
  return openNote(note, []).text;
}
