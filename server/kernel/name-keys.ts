import { hkdfSync } from "node:crypto";

/**
 * The keys of names: HMACs by which something is found again, such as a caller's run or a kept answer. They stay when the secret key is
 * changed, because a process that names things otherwise would not find what another one has stored.
 */
export interface NameKeys {
  of(purpose: string): Uint8Array;
  /** To be kept encrypted, and read by `readNameKeys`. */
  text(): string;
}

/** Names of releases that derived them from the secret key itself. */
const FIRST_PURPOSES = [
  "agent-context",
  "approval-token",
  "idempotency",
  "kept-items",
  "kept-signatures",
  "login-failures",
  "mcp-approval-session",
  "mcp-cancelled",
  "mcp-client-answer",
  "mcp-own-question",
  "mcp-session-notes",
  "page-session",
  "page-session-proof",
  "run",
  "session",
];

/** All others are derived from one key. */
const REST = "names";

export function nameKeysOf(derive: (purpose: string) => Uint8Array): NameKeys {
  return nameKeys(new Map([...FIRST_PURPOSES, REST].map((purpose) => [purpose, derive(`hmac/${purpose}`)])));
}

export function readNameKeys(text: string): NameKeys {
  const stored = JSON.parse(text) as Record<string, string>;
  return nameKeys(new Map(Object.entries(stored).map(([purpose, key]) => [purpose, Buffer.from(key, "base64")])));
}

function nameKeys(stored: ReadonlyMap<string, Uint8Array>): NameKeys {
  const known = new Map(stored);
  const rest = stored.get(REST);
  if (rest === undefined) throw new Error("the stored keys of names are not in a form this release reads");
  return {
    of(purpose) {
      let key = known.get(purpose);
      if (key === undefined) {
        key = Buffer.from(hkdfSync("sha256", rest, new Uint8Array(0), `gatehouse/name/${purpose}`, 32));
        known.set(purpose, key);
      }
      return key;
    },
    text: () => JSON.stringify(Object.fromEntries([...stored].map(([purpose, key]) => [purpose, Buffer.from(key).toString("base64")]))),
  };
}
