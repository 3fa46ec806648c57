import { useSession } from "@gatehouse/web-kit/session.ts";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { adminSession } from "../admin-client.ts";
import type { AdminApi } from "../api/admin-api.generated.ts";
import { isAllowed } from "./api-schema.ts";
import { documentQuery } from "./records-client.ts";

/** Returns a function that says whether the signed-in administrator's role permits an operation. */
export function useAllowed(): (operation: keyof AdminApi & string) => boolean {
  const api = useQuery(documentQuery);
  const session = useSession(adminSession);
  const user = session.state === "in" ? session.user : {};
  return (operation) => {
    const [method = "", path = ""] = operation.split(" ");
    return api.isSuccess && isAllowed(api.data, method, path, user);
  };
}

/** Shows controls only to roles that may use them, rather than let others run into a refusal. */
export function Allowed({ operation, children }: { readonly operation: keyof AdminApi & string; readonly children: ReactNode }): ReactNode {
  return useAllowed()(operation) ? children : null;
}
