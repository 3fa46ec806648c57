import { dropOrphanTokens } from "../../../directory/tools/oauth-tokens.ts";
import type { Directory } from "../../../directory/writes/write.ts";
import type { Job } from "../../../kernel/scheduling/job.ts";
import type { GiveUpTokens } from "./give-up-tokens.ts";

const HOUR_MS = 3_600_000;

/**
 * Ends the accounts of deleted people and revoked keys, and revokes their tokens at the issuers as far as these allow. After `stop` it no
 * longer waits for issuers.
 */
export function orphanAccounts(parts: Pick<Directory, "db" | "secrets">, giveUp: GiveUpTokens): { readonly job: Job; stop(): void } {
  const { promise: stopped, resolve } = Promise.withResolvers<"stopped">();
  return {
    job: {
      name: "end_orphan_accounts",
      everyMs: HOUR_MS,
      async run() {
        for (const { tenantId, serverId, tokens } of await dropOrphanTokens(parts))
          if ((await Promise.race([stopped, giveUp({ tenantId, id: serverId }, tokens)])) === "stopped") return;
      },
    },
    stop: () => resolve("stopped"),
  };
}
