import { readVariable } from "../kernel/configuration/read-variable.ts";
import { type OtherKeys, secretBox } from "../kernel/secrets.ts";
import type { Boxes } from "../store/records/sealed-values.ts";
import { storedSecret } from "./stored-secret.ts";

/** The secret key, from its setting or the data directory, and those beside it. */
export interface SecretKeys extends Pick<OtherKeys, "next" | "previous"> {
  readonly own: Uint8Array;
}

/** Null if there is no secret key yet. */
export function secretKeysOf(env: Readonly<Record<string, string | undefined>>, dataDir: string): SecretKeys | null {
  const read = (name: "GW_SECRET_KEY" | "GW_SECRET_KEY_NEXT" | "GW_SECRET_KEY_PREVIOUS") => {
    const text = readVariable(env, name) as string | undefined;
    return text === undefined ? undefined : Buffer.from(text, "base64");
  };
  const stored = storedSecret(dataDir, "secret-key");
  const own = read("GW_SECRET_KEY") ?? (stored === null ? undefined : Buffer.from(stored, "base64"));
  return own === undefined ? null : { own, next: read("GW_SECRET_KEY_NEXT"), previous: read("GW_SECRET_KEY_PREVIOUS") };
}

export function boxesOf({ own, next, previous }: SecretKeys): Boxes {
  return { own: secretBox(own), all: secretBox(own, { next, previous }) };
}
