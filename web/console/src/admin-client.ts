import { apiClient } from "@gatehouse/web-kit/api-client.ts";
import { Session } from "@gatehouse/web-kit/session.ts";
import type { AdminApi } from "./api/admin-api.generated.ts";

export const adminSession = new Session({ name: "console", path: "/v1/admin-users/session", signOutPath: "/v1/admin-users/sso/sign-out" });

export const UNREACHABLE = "The gateway did not answer. Check that it is running, then try again.";

/** A typed client of the admin API, by method and path: `adminApi.call("GET /v1/admin/tenants")`. */
export const adminApi = apiClient<AdminApi>(adminSession, () => UNREACHABLE);
