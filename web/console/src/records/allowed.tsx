import { useSession } from "@gatehouse/web-kit/session.ts";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { adminSession } from "../admin-client.ts";
import type { AdminApi } from "../api/admin-api.generated.ts";
import { isAllowed } from "./api-schema.ts";
import { documentQuery } from "./records-client.ts";

/** What does something is offered to those whose role may do it; others are not left to find out by a refusal. */
export function Allowed({ operation, children }: { readonly operation: keyof AdminApi & string; readonly children: ReactNode }): ReactNode {
  const api = useQuery(documentQuery);
  const session = useSession(adminSession);
  const [method = "", path = ""] = operation.split(" ");
  const user = session.state === "in" ? session.user : {};
  return api.isSuccess && isAllowed(api.data, method, path, user) ? children : null;
}
