import { createHash } from "node:crypto";
import { lastWordFrom } from "../text/characters.ts";
import { type Detector, WINDOW } from "../text/detector.ts";
import { scan } from "../text/scan.ts";

const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
/** The checksums of the two versions of bech32. */
const REMAINDERS = new Set([1, 0x2bc830a3]);
const ADDRESS =
  /(?<![A-Za-z0-9])(?:bc1[02-9ac-hj-np-z]{11,71}|BC1[02-9AC-HJ-NP-Z]{11,71}|[13LMT][1-9A-HJ-NP-Za-km-z]{25,34}|0x[0-9A-Fa-f]{40})(?![A-Za-z0-9])/;

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest();

/** Whether 25 bytes in base 58 end with the checksum of the others. */
function passesBase58(address: string): boolean {
  let value = 0n;
  for (const one of address) value = value * 58n + BigInt(BASE58.indexOf(one));
  const hex = value.toString(16);
  if (hex.length > 50) return false;
  const bytes = Buffer.from(hex.padStart(50, "0"), "hex");
  return sha256(sha256(bytes.subarray(0, 21)))
    .subarray(0, 4)
    .equals(bytes.subarray(21));
}

function passesBech32(address: string): boolean {
  const values = [...address.slice(3)].map((one) => BECH32.indexOf(one));
  let check = 1;
  // The prefix "bc", expanded.
  for (const value of [3, 3, 0, 2, 3, ...values]) {
    const top = check >>> 25;
    check = ((check & 0x1ffffff) << 5) ^ value;
    for (const [bit, generator] of GENERATORS.entries()) if (((top >>> bit) & 1) === 1) check ^= generator;
  }
  return REMAINDERS.has(check >>> 0);
}

function isAddress(written: string): boolean {
  if (written.startsWith("0x")) return !/^0x(.)\1+$/.test(written);
  return /^bc1/i.test(written) ? passesBech32(written.toLowerCase()) : passesBase58(written);
}

/** Addresses of Bitcoin, Litecoin and Tron, by their checksums, and of Ethereum. */
export const cryptoWallet: Detector = {
  check: "pii",
  maxLength: WINDOW - 16,
  find(text, from, to) {
    const own = new RegExp(ADDRESS.source, "g");
    return scan(text, own, from, to, (start) => {
      const end = own.lastIndex;
      return isAddress(text.slice(start, end)) ? { category: "crypto_wallet", start, end, score: 0.85 } : null;
    });
  },
  openFrom: (text) => lastWordFrom(text, Math.max(0, text.length - WINDOW)),
};
