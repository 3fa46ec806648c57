import type { LiveFeed } from "../../directory/people/portal/live-feed.ts";
import type { PortalLogins } from "../../directory/people/portal/portal-logins.ts";
import type { EndUserCache } from "../../directory/end-user-cache.ts";
import type { Snapshots } from "../../directory/snapshots.ts";
import type { Directory } from "../../directory/writes/write.ts";
import type { Notices } from "../../controls/notices/notices.ts";
import type { AppResourceDispatch } from "../../services/tools/app-resource.ts";
import type { SignOn } from "../../services/sign-on/sign-on.ts";
import type { RunFeedback } from "../../services/feedback/run-feedback.ts";

/** Dependencies of the portal's operations. */
export interface PortalServices {
  readonly directory: Directory;
  readonly logins: PortalLogins;
  readonly users: EndUserCache;
  readonly snapshots: Snapshots;
  readonly feed: LiveFeed;
  readonly feedback: RunFeedback;
  readonly notices: Notices;
  readonly signOn: SignOn;
  /** Address of the runtime plane as browsers know it; null to use that of each request. */
  readonly publicUrl: string | null;
  /** Provides the user interfaces of tools. */
  readonly apps: AppResourceDispatch;
}
