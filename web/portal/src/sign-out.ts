import { ApiError } from "@gatehouse/web-kit/api-error.ts";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { ownSession } from "./portal-client.ts";
import { translations } from "./translations.ts";

/** Signs the person out everywhere. */
export function signOutOfPortal(): void {
  void ownSession.end().catch((error) => showToast(error instanceof ApiError ? error.message : translations.t("unreachable")));
}
