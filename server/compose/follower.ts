import { ConfigFollower } from "../directory/config-follower.ts";
import type { LiveFeed } from "../directory/people/portal/live-feed.ts";
import type { NamedTenants } from "../directory/named-tenants.ts";
import type { Log } from "../kernel/log.ts";
import type { AdmissionParts } from "../road/admission/admit.ts";
import type { EndedAccess } from "../road/ended-access.ts";
import type { openTools } from "../services/tools/tool-service.ts";
import type { DatabaseConnection } from "../store/database.ts";

/** The caches of directory records. */
interface Followers extends Pick<AdmissionParts, "credentials" | "users" | "snapshots" | "workloads"> {
  readonly tenants: NamedTenants;
  readonly tools: Pick<Awaited<ReturnType<typeof openTools>>, "forgetTokens">;
  readonly ended: EndedAccess;
  readonly feed: LiveFeed;
}

/** Applies directory changes to this process. */
export function openFollower(
  connection: DatabaseConnection,
  log: Log,
  { credentials, users, snapshots, workloads, tenants, tools, ended, feed }: Followers,
): ConfigFollower {
  return new ConfigFollower(
    connection,
    {
      tenantChanged(tenantId) {
        tenants.drop(tenantId);
        return snapshots.renew(tenantId).then(() => void ended.reviewTenant(tenantId));
      },
      credentialChanged(keyHash) {
        credentials.drop(keyHash);
        void ended.reviewKey(keyHash);
      },
      oauthTokensChanged: (tenantId, ref) => tools.forgetTokens(tenantId, ref),
      identityProvidersChanged(tenantId) {
        workloads.drop(tenantId);
        void ended.reviewWorkloads(tenantId);
      },
      userChanged(tenantId, userId) {
        users.drop(tenantId, userId);
        for (const one of [ended, feed]) void one.review(tenantId, userId);
      },
      async everythingChanged() {
        const keys = credentials.dropAll();
        tools.forgetTokens();
        users.dropAll();
        workloads.dropAll();
        tenants.dropAll();
        await snapshots.renewAll();
        void ended.reviewAll(keys);
        void feed.reviewAll();
      },
    },
    log,
  );
}
