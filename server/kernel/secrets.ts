import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import { type NameKeys, nameKeysOf } from "./name-keys.ts";

/** Encrypts what must be read back (upstream keys) and derives HMACs and keys for other purposes. One per process. */
export interface SecretBox {
  /** AES-256-GCM. `context` is bound to the ciphertext: a value moved to another record or column cannot be opened. `open` throws then. */
  seal(plaintext: string, context: string): string;
  /** Also opens what was sealed under one of the other keys. */
  open(sealed: string, context: string): string;
  /** Null if there is nothing, or if it was sealed under another key or context or has been changed. */
  openOrNull(sealed: string | null, context: string): string | null;
  /** HMAC by which something is found again, with a key of its own for each purpose. Stays the same when the secret key is changed. */
  hmac(purpose: string, data: string): string;
  /** HMACs that prove where something came from: the first is for new proofs; the others, under the other keys, are accepted too. */
  proofs(purpose: string, data: string): readonly [string, ...string[]];
  /** 32-byte keys for one named purpose, for other kinds of signing: the first signs, the others verify too. */
  keys(purpose: string): readonly [Uint8Array, ...Uint8Array[]];
}

/** Keys beside the secret key, while it is being changed. */
export interface OtherKeys {
  /** The key that will replace it. */
  readonly next?: Uint8Array | undefined;
  /** The key that it replaced. */
  readonly previous?: Uint8Array | undefined;
  /** Kept in the database since the first change of the key. */
  readonly names?: NameKeys | null;
}

type Derive = (purpose: string) => Buffer;

const VERSION = "v1";

function deriving(master: Uint8Array): Derive {
  if (master.byteLength !== 32) throw new Error("GW_SECRET_KEY must be 32 bytes, base64");
  return (purpose) => Buffer.from(hkdfSync("sha256", master, new Uint8Array(0), `gatehouse/${purpose}`, 32));
}

/** The keys of names that were made before the secret key was first changed. */
export function firstNameKeys(master: Uint8Array): NameKeys {
  return nameKeysOf(deriving(master));
}

function opened(sealed: string, context: string, wrapping: Buffer): string {
  const [version, nonce, body] = sealed.split(".");
  if (version !== VERSION || !nonce || !body) throw new Error("a stored secret is not in a form this release reads");
  const bytes = Buffer.from(body, "base64");
  const decipher = createDecipheriv("aes-256-gcm", wrapping, Buffer.from(nonce, "base64"));
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(bytes.subarray(-16));
  return decipher.update(bytes.subarray(0, -16), undefined, "utf8") + decipher.final("utf8");
}

const macOf = (key: Uint8Array, data: string) => createHmac("sha256", key).update(data).digest("hex");

export function secretBox(master: Uint8Array, { next, previous, names }: OtherKeys = {}): SecretBox {
  const derive = deriving(master);
  const others = [next, previous].flatMap((key) => (key === undefined ? [] : [deriving(key)]));
  const wrapping = derive("wrap");
  const otherWrappings = others.map((other) => other("wrap"));
  const proofKeys = new Map<string, readonly [Buffer, ...Buffer[]]>();
  const nameKeys = names ?? firstNameKeys(previous ?? master);
  const keysOf = (purpose: string): readonly [Buffer, ...Buffer[]] => [derive(purpose), ...others.map((other) => other(purpose))];
  const box: SecretBox = {
    seal(plaintext, context) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", wrapping, nonce);
      cipher.setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plaintext, "utf8"), cipher.final()]);
      return [VERSION, nonce.toString("base64"), Buffer.concat([body, cipher.getAuthTag()]).toString("base64")].join(".");
    },
    open(sealed, context) {
      let failure: unknown;
      for (const key of [wrapping, ...otherWrappings]) {
        try {
          return opened(sealed, context, key);
        } catch (error) {
          failure ??= error;
        }
      }
      throw failure;
    },
    openOrNull(sealed, context) {
      if (sealed === null) return null;
      try {
        return box.open(sealed, context);
      } catch {
        return null;
      }
    },
    keys: (purpose) => keysOf(`key/${purpose}`),
    hmac: (purpose, data) => macOf(nameKeys.of(purpose), data),
    proofs(purpose, data) {
      let keys = proofKeys.get(purpose);
      if (keys === undefined) {
        keys = keysOf(`hmac/${purpose}`);
        proofKeys.set(purpose, keys);
      }
      const [own, ...rest] = keys;
      return [macOf(own, data), ...rest.map((key) => macOf(key, data))];
    },
  };
  return box;
}

/** The context that binds a sealed upstream secret to its record. */
export function sealContext(
  table:
    | "providers"
    | "models"
    | "mcp_servers"
    | "identity_providers"
    | "web_search_providers"
    | "webhooks"
    | "usage_import_settings"
    | "knowledge_connectors",
  id: string,
): string {
  return `${table}.api_key:${id}`;
}

export function sha256Hex(data: string | Uint8Array): string {
  return hash("sha256", data, "hex");
}

/** Compares secrets in constant time. */
export function isSameSecret(shown: string | Uint8Array, own: string | Uint8Array): boolean {
  const [a, b] = [Buffer.from(shown), Buffer.from(own)];
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}

const API_KEY_PREFIX = "sk_gw_api_";
const API_KEY = /^sk_gw_api_[A-Za-z0-9_-]{43}$/;

/** `sk_gw_api_` and 43 URL-safe characters: 256 random bits. */
export function newApiKey(): string {
  return API_KEY_PREFIX + randomBytes(32).toString("base64url");
}

export function looksLikeApiKey(text: string): boolean {
  return API_KEY.test(text);
}

/** A generated password: 24 URL-safe characters, 144 random bits. */
export function newPassword(): string {
  return randomBytes(18).toString("base64url");
}
