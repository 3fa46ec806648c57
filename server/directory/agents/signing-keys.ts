import { agentSigningKeyContext } from "../../kernel/seal-contexts.ts";
import type { AgentSigningKey } from "@gatehouse/contracts/agents";
import { insertSigningKey, type AgentSigningKeyRow, signingKeys } from "../../store/agents/agent-signing-keys.ts";
import type { Directory, Write } from "../writes/write.ts";
import { openedKeys, type TenantAgents } from "./agent-entry.ts";
import { newSigningKey } from "./card-signature.ts";

const DEFAULT_OVERLAP_SECONDS = 604_800;

function read(row: AgentSigningKeyRow): AgentSigningKey {
  return {
    kid: row.kid,
    public_key: row.public_key,
    created_at: row.created_at.toISOString(),
    retires_at: row.retires_at?.toISOString() ?? null,
  };
}

export async function listCardKeys(directory: Pick<Directory, "db" | "clock">, tenantId: string): Promise<AgentSigningKey[]> {
  return (await signingKeys(directory.db, tenantId, new Date(directory.clock.now()))).map(read);
}

/** The keys that currently sign the tenant's cards, newest first. */
export async function cardSigners({ db, secrets, clock }: Directory, tenantId: string): Promise<TenantAgents["keys"]> {
  return openedKeys(await signingKeys(db, tenantId, new Date(clock.now())), (sealed, context) => secrets.openOrNull(sealed, context));
}

/** Creates the tenant's newest signing key. The previous key also signs until the overlap ends. */
export async function rotateCardKey(
  write: Write,
  tenantId: string,
  { overlap_seconds: overlap = DEFAULT_OVERLAP_SECONDS }: { overlap_seconds?: number | undefined },
): Promise<AgentSigningKey[]> {
  const { kid, publicKey, privateKey } = newSigningKey();
  await insertSigningKey(
    write.trx,
    {
      kid,
      tenant_id: tenantId,
      public_key: publicKey,
      private_key_sealed: write.directory.secrets.seal(privateKey, agentSigningKeyContext(kid)),
      created_at: write.now,
    },
    new Date(write.now.getTime() + overlap * 1000),
  );
  write.log({
    tenant_id: tenantId,
    action: "rotate",
    resource: "agent-signing-keys",
    resource_id: kid,
    after: { kid, overlap_seconds: overlap },
  });
  write.notify(tenantId, "policy");
  return (await signingKeys(write.trx, tenantId, write.now)).map(read);
}

/** Creates the tenant's first signing key along with its first agent. */
export async function ensureSigningKey(write: Write, tenantId: string): Promise<void> {
  if ((await signingKeys(write.trx, tenantId, write.now)).length === 0) await rotateCardKey(write, tenantId, {});
}
