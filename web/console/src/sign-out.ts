import { ApiError } from "@gatehouse/web-kit/api-error.ts";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { adminSession, UNREACHABLE } from "./admin-client.ts";

/** Signs the administrator out everywhere. */
export function signOutOfConsole(): void {
  void adminSession.end().catch((error) => showToast(error instanceof ApiError ? error.message : UNREACHABLE));
}
