/** OWASP's first argon2id choice: 19 MiB, two passes. Runs on a thread of its own, not on the event loop. */
const ARGON2ID = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;

export function hashPassword(text: string): Promise<string> {
  return Bun.password.hash(text, ARGON2ID);
}

/** False for a wrong password and for a text that is no password hash. */
export async function verifyPassword(text: string, hash: string): Promise<boolean> {
  try {
    return await Bun.password.verify(text, hash, "argon2id");
  } catch {
    return false;
  }
}

let unknownUser: Promise<string> | undefined;

/** Takes as long as a real verification and is never true: run it for an unknown user, or timing tells who exists. */
export async function dummyVerify(text = ""): Promise<false> {
  unknownUser ??= hashPassword(crypto.randomUUID());
  await verifyPassword(text, await unknownUser);
  return false;
}

/** Bcrypt, for short texts that are random: their length protects them, so the cost is low. On a thread of its own. */
export function hashCode(text: string): Promise<string> {
  return Bun.password.hash(text, { algorithm: "bcrypt", cost: 8 });
}

export async function verifyCode(text: string, hash: string): Promise<boolean> {
  try {
    return await Bun.password.verify(text, hash, "bcrypt");
  } catch {
    return false;
  }
}
