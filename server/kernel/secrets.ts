import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";

/** Encrypts what must be read back (upstream keys) and derives HMACs and keys for other purposes. One per process. */
export interface SecretBox {
  /** AES-256-GCM. `context` is bound to the ciphertext: a value moved to another record or column cannot be opened. `open` throws then. */
  seal(plaintext: string, context: string): string;
  open(sealed: string, context: string): string;
  /** Null if there is nothing, or if it was sealed under another key or context or has been changed. */
  openOrNull(sealed: string | null, context: string): string | null;
  /** HMAC with a key of its own for each purpose. */
  hmac(purpose: string, data: string): string;
  /** A 32-byte key for one named purpose, for other kinds of signing. */
  key(purpose: string): Uint8Array;
}

const VERSION = "v1";

export function secretBox(master: Uint8Array): SecretBox {
  if (master.byteLength !== 32) throw new Error("GW_SECRET_KEY must be 32 bytes, base64");
  const derive = (purpose: string) => Buffer.from(hkdfSync("sha256", master, new Uint8Array(0), `gatehouse/${purpose}`, 32));
  const wrapping = derive("wrap");
  const hmacKeys = new Map<string, Buffer>();
  const box: SecretBox = {
    seal(plaintext, context) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", wrapping, nonce);
      cipher.setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plaintext, "utf8"), cipher.final()]);
      return [VERSION, nonce.toString("base64"), Buffer.concat([body, cipher.getAuthTag()]).toString("base64")].join(".");
    },
    open(sealed, context) {
      const [version, nonce, body] = sealed.split(".");
      if (version !== VERSION || !nonce || !body) throw new Error("a stored secret is not in a form this release reads");
      const bytes = Buffer.from(body, "base64");
      const decipher = createDecipheriv("aes-256-gcm", wrapping, Buffer.from(nonce, "base64"));
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(bytes.subarray(-16));
      return decipher.update(bytes.subarray(0, -16), undefined, "utf8") + decipher.final("utf8");
    },
    openOrNull(sealed, context) {
      if (sealed === null) return null;
      try {
        return box.open(sealed, context);
      } catch {
        return null;
      }
    },
    key: (purpose) => derive(`key/${purpose}`),
    hmac(purpose, data) {
      let key = hmacKeys.get(purpose);
      if (key === undefined) {
        key = derive(`hmac/${purpose}`);
        hmacKeys.set(purpose, key);
      }
      return createHmac("sha256", key).update(data).digest("hex");
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
