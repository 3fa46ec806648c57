import type { Notices } from "../controls/notices/notices.ts";
import { openSharedFailures } from "./shared-failures.ts";
import { LiveFeed } from "../directory/people/portal/live-feed.ts";
import { queuedHashing } from "../directory/people/portal/password-work.ts";
import { KeySets } from "../directory/identity/key-sets.ts";
import type { Directory } from "../directory/writes/write.ts";
import type { upstreamOf } from "../drivers.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Configuration } from "../kernel/configuration/configuration.ts";
import type { Log } from "../kernel/log.ts";
import type { SecretBox } from "../kernel/secrets.ts";
import type { ProcessGroup } from "../group/process-group.ts";
import { waitUntilShipped } from "../ledger/shipping/wait-until-shipped.ts";
import type { AdmissionParts } from "../road/admission/admit.ts";
import type { Services } from "../routes.ts";
import { dummyVerify, hashCode, hashPassword, verifyCode, verifyPassword } from "../runtime/passwords.ts";
import { openRunFeedback } from "../services/feedback/run-feedback.ts";
import { SignOn } from "../services/sign-on/sign-on.ts";
import type { DatabaseConnection } from "../store/database.ts";
import { issuerDocuments } from "../upstreams/identity/issuer-documents.ts";
import { oidcClient } from "../upstreams/identity/oidc-client.ts";
import { samlClient } from "../upstreams/identity/saml-client.ts";

interface PortalParts {
  readonly admission: AdmissionParts;
  readonly connection: DatabaseConnection;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  readonly log: Log;
  readonly upstream: ReturnType<typeof upstreamOf>;
  /** Resolves when every row sealed so far, in any process of this machine, is in the database. */
  readonly shipped: () => Promise<void>;
  readonly group: Pick<ProcessGroup, "logins" | "uses">;
}

/** The portal for end users: directory, passwords, live events and sign-on. */
export function openPortal(config: Configuration, parts: PortalParts) {
  const { admission, connection, secrets, clock, log, upstream } = parts;
  const { users, tokens, snapshots } = admission;
  const { db } = connection;
  const hashing = queuedHashing({ hashPassword, verifyPassword, dummyVerify, hashCode, verifyCode });
  const directory: Directory = { db, secrets, clock, hashPassword: hashing.hashPassword, fallbackJudge: config.judgeModel ?? null };
  const saml = samlClient();
  const keys = new KeySets(issuerDocuments(upstream.outbound), clock);
  const failures = openSharedFailures("portal", config, { secrets, log });
  const uses = parts.group.uses(clock, failures?.uses);
  const signOn = new SignOn({ directory, keys, oidc: oidcClient(upstream.outbound, config.allowPrivateUpstreams), saml, uses, log });
  const throttle = parts.group.logins(clock, failures);
  const feed = new LiveFeed({ connection, users, snapshots, clock, log });
  return {
    directory,
    feed,
    service: (notices: Notices, apps: Services["portal"]["apps"]): Services["portal"] => ({
      directory,
      users,
      snapshots,
      feed,
      logins: { directory, tokens, users, hashing, throttle, uses },
      notices,
      signOn,
      publicUrl: config.publicUrl ?? null,
      feedback: openRunFeedback({ db, secrets, clock, shipped: () => waitUntilShipped(parts.shipped()) }),
      apps,
    }),
    async close(): Promise<void> {
      failures?.close();
      await Promise.all([feed.stop(), saml.close()]);
    },
  };
}
