import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { itemsIn, membersOf } from "./parse-config.ts";

/** What a device stores: its identity, the signing key, and a secret for keyed hashes. The private key and the secret never leave it. */
export interface DeviceState {
  readonly deviceId: string;
  readonly privateKey: KeyObject;
  /** 32 bytes in base64, for registration with the gateway. */
  readonly publicKey: string;
  /** A keyed hash, because a plain hash of a path or a short secret could be guessed. */
  hashed(text: string): string;
  /** What was last reported, to detect removed assets, and the gateway's addresses as it last reported them. */
  remembered(): Remembered;
  remember(next: Remembered): void;
}

export interface Remembered {
  readonly assets: readonly Readonly<Record<string, unknown>>[];
  readonly gatewayOrigins: readonly string[];
}

const OWNER_ONLY = 0o600;

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as unknown;
  } catch {
    return null;
  }
}

function writeJson(path: string, value: unknown): void {
  const next = `${path}.new`;
  writeFileSync(next, `${JSON.stringify(value)}\n`, { mode: OWNER_ONLY });
  chmodSync(next, OWNER_ONLY);
  renameSync(next, path);
}

/** Creates the state on first use. Throws if others can read the key file. */
export function deviceState(folder: string): DeviceState {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, "device.json");
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined)
    writeJson(path, {
      device_id: randomUUID(),
      secret: randomBytes(32).toString("base64"),
      private_key: generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }),
    });
  else if (process.platform !== "win32" && (stats.mode & 0o077) !== 0)
    throw new Error(`${path} can be read by others: chmod 600 it, or remove it to enrol anew`);
  const { device_id: deviceId, secret, private_key: pem } = membersOf(readJson(path));
  if (typeof deviceId !== "string" || typeof secret !== "string" || typeof pem !== "string")
    throw new Error(`${path} is damaged: remove it to enrol anew`);
  const privateKey = createPrivateKey(pem);
  const { x = "" } = createPublicKey(privateKey).export({ format: "jwk" });
  const seen = join(folder, "seen.json");
  return {
    deviceId,
    privateKey,
    publicKey: Buffer.from(x, "base64url").toString("base64"),
    hashed: (text) => createHmac("sha256", Buffer.from(secret, "base64")).update(text).digest("hex"),
    remembered() {
      const { assets, gateway_origins: origins } = membersOf(readJson(seen));
      return {
        assets: itemsIn(assets).map(membersOf),
        gatewayOrigins: itemsIn(origins).filter((origin): origin is string => typeof origin === "string"),
      };
    },
    remember: ({ assets, gatewayOrigins }) => writeJson(seen, { assets, gateway_origins: gatewayOrigins }),
  };
}
