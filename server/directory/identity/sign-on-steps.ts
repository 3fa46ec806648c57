import { randomBytes } from "node:crypto";
import { sha256Hex } from "../../kernel/secrets.ts";
import { signOnStepContext } from "../../kernel/seal-contexts.ts";
import { insertSignOnStep, takeSignOnStep, useOnce } from "../../store/sign-on/sign-on-steps.ts";
import type { Directory } from "../writes/write.ts";
import type { SignOnPlace } from "./sign-on-place.ts";

const BYTES = 32;
export const newSecretText = (): string => randomBytes(BYTES).toString("base64url");

/** Stores the content of a sign-in step until the same browser returns with its secret. */
export async function keepStep(
  directory: Directory,
  step: { kind: "state" | "code"; secret: string; binding: string; place: SignOnPlace; content: object; forMs: number },
): Promise<void> {
  const hash = sha256Hex(step.secret);
  const now = directory.clock.now();
  await insertSignOnStep(
    directory.db,
    {
      step_hash: hash,
      kind: step.kind,
      tenant_id: step.place.tenantId,
      provider_id: step.place.id,
      binding_hash: sha256Hex(step.binding),
      sealed: directory.secrets.seal(JSON.stringify(step.content), signOnStepContext(hash)),
      expires_at: new Date(now + step.forMs),
    },
    new Date(now),
  );
}

/** Null unless the step belongs to this browser, has not expired and was not taken before. */
export async function takeStoredStep(
  directory: Directory,
  { kind, secret, binding }: { kind: "state" | "code"; secret: string; binding: string },
): Promise<{ providerId: string; content: Record<string, unknown> } | null> {
  const hash = sha256Hex(secret);
  const row = await takeSignOnStep(
    directory.db,
    { step_hash: hash, kind, binding_hash: sha256Hex(binding) },
    new Date(directory.clock.now()),
  );
  if (row === undefined) return null;
  const opened = directory.secrets.openOrNull(row.sealed, signOnStepContext(hash));
  return opened === null ? null : { providerId: row.provider_id, content: JSON.parse(opened) as Record<string, unknown> };
}

/** Returns false if it was used before. */
export function usedOnce(directory: Directory, place: SignOnPlace, id: string, until: number): Promise<boolean> {
  return useOnce(directory.db, place.id, sha256Hex(id), new Date(until));
}
