import { apiClient } from "@gatehouse/web-kit/api-client.ts";
import { Session } from "@gatehouse/web-kit/session.ts";
import type { PortalApi } from "./api/portal-api.generated.ts";
import { translations } from "./translations.ts";

export const ownSession = new Session({ name: "portal", path: "/v1/portal/auth/session", signOutPath: "/v1/portal/auth/sso/sign-out" });

export const portalApi = apiClient<PortalApi>(
  ownSession,
  () => translations.t("unreachable"),
  ({ code }) => {
    // An administrator requires the signed-in person to change the password.
    const session = ownSession.snapshot();
    if (code === "password_change_required" && session.state === "in") ownSession.setUser({ ...session.user, must_change_password: true });
  },
);
