import { agentTaskRoutes } from "./agent-tasks.ts";
import { alertRoutes } from "./alerts.ts";
import { approvalPageRoutes } from "./approval-page.ts";
import { approvalRoutes } from "./approvals.ts";
import { authRoutes } from "./auth.ts";
import { eventRoutes } from "./events.ts";
import { evidenceRoutes } from "./evidence.ts";
import { feedbackRoutes } from "./feedback.ts";
import { listingRoutes } from "./listings.ts";
import { appRoutes } from "./mcp-apps.ts";
import { modelRoutes } from "./models.ts";
import { notificationRoutes } from "./notifications.ts";
import type { PortalRoute } from "./portal-operation.ts";
import { ownKeyRoutes } from "./own-keys.ts";
import { profileRoutes } from "./profile.ts";
import { sessionRoutes } from "./sessions.ts";
import { skillRoutes } from "./skills.ts";
import { ssoRoutes } from "./sso.ts";
import { ssoSignOutRoutes } from "./sso-sign-out.ts";
import { usageRoutes } from "./usage.ts";

/** All routes of the portal API (interface 4.4). If several match a path, the first wins. */
export const PORTAL_ROUTES: readonly PortalRoute[] = [
  ...authRoutes,
  ...sessionRoutes,
  ...ssoSignOutRoutes,
  ...ssoRoutes,
  ...profileRoutes,
  ...modelRoutes,
  ...notificationRoutes,
  ...alertRoutes,
  ...approvalRoutes,
  ...approvalPageRoutes,
  ...agentTaskRoutes,
  ...listingRoutes,
  ...skillRoutes,
  ...appRoutes,
  ...feedbackRoutes,
  ...ownKeyRoutes,
  ...usageRoutes,
  ...evidenceRoutes,
  ...eventRoutes,
];
