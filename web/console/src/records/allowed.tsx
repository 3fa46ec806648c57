import { useSession } from "@gatehouse/web-kit/session.ts";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { adminSession } from "../admin-client.ts";
import type { AdminApi } from "../api/admin-api.generated.ts";
import { isAllowed } from "./api-schema.ts";
import { documentQuery } from "./records-client.ts";

/**
 * The signed-in administrator. After the session ended, still the one who was: the page is kept for them, and forms must not
 * disappear with their permissions.
 */
export function useConsoleUser(): Readonly<Record<string, unknown>> {
  const session = useSession(adminSession);
  const now = session.state === "in" ? session.user : null;
  const [last, setLast] = useState<Readonly<Record<string, unknown>>>(now ?? {});
  if (now !== null && now !== last) setLast(now);
  return now ?? last;
}

/** Returns a function that says whether the signed-in administrator's role permits an operation. */
export function useAllowed(): (operation: keyof AdminApi & string) => boolean {
  const api = useQuery(documentQuery);
  const user = useConsoleUser();
  return (operation) => {
    const [method = "", path = ""] = operation.split(" ");
    return api.isSuccess && isAllowed(api.data, method, path, user);
  };
}

/** Shows controls only to roles that may use them, rather than let others run into a refusal. */
export function Allowed({ operation, children }: { readonly operation: keyof AdminApi & string; readonly children: ReactNode }): ReactNode {
  return useAllowed()(operation) ? children : null;
}
