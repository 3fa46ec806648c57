import { MoreButton } from "@gatehouse/web-kit/more-button.tsx";
import { Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import { useConsoleUser } from "../records/allowed.tsx";
import { ReferenceLink } from "../records/reference-link.tsx";
import { IDENTITIES_KEY, IdentityLine } from "./identity-line.tsx";

interface Provider {
  readonly id: string;
  readonly name: string;
  readonly audience: string;
}

const PAGE = 50;
const MAX_OWNERS = 200;

const read = (id: string, page: number) =>
  adminApi.call("GET /v1/admin/identity-providers/{id}/identities", { path: { id }, query: { page, page_size: PAGE } });

/** Returns whether the user may unlink an identity: that of an owner only if they are one. */
function useMayUnlink(provider: Provider): (identity: { readonly admin_user_id: string | null }) => boolean {
  const { role } = useConsoleUser();
  const isOwner = role === "owner" || role === "system_admin";
  const owners = useQuery({
    queryKey: ["owners", provider.id],
    queryFn: () => adminApi.call("GET /v1/admin/admin-users", { query: { role: "owner", page_size: MAX_OWNERS } }),
    enabled: !isOwner && provider.audience === "admin",
  });
  return ({ admin_user_id: id }) =>
    isOwner || id === null || (owners.isSuccess && !owners.data.admin_users.some((owner) => owner.id === id));
}

/** The accounts that a provider's subjects sign in as. */
export function WhoSignsIn({ provider, mayUnlink }: { readonly provider: Provider; readonly mayUnlink: boolean }): ReactNode {
  const found = useInfiniteQuery({
    queryKey: [...IDENTITIES_KEY, "sign-on", provider.id],
    queryFn: ({ pageParam }) => read(provider.id, pageParam),
    initialPageParam: 1,
    getNextPageParam: ({ page, total }) => (page * PAGE < total ? page + 1 : undefined),
  });
  const mayUnlinkOf = useMayUnlink(provider);
  const identities = found.data?.pages.flatMap((page) => page.identities) ?? [];
  return (
    <Panel title="Who signs in by it">
      {found.isPending && <Skeleton label="Loading" lines={2} />}
      {found.isError && <ErrorState error={found.error} title="Who signs in by it could not be read" requestLabel="Request" />}
      {found.isSuccess && identities.length === 0 && (
        <p className="text-muted">Nobody yet. An account that was there is linked on its own page.</p>
      )}
      {identities.length > 0 && (
        <ul className="grid gap-3">
          {identities.map((identity) => (
            <IdentityLine
              key={identity.subject}
              provider={provider}
              identity={identity}
              accountName={identity.username ?? identity.subject}
              mayUnlink={mayUnlink && mayUnlinkOf(identity)}
            >
              <ReferenceLink
                slug={identity.end_user_id === null ? "administrators" : "people"}
                id={identity.end_user_id ?? identity.admin_user_id ?? ""}
              />
            </IdentityLine>
          ))}
        </ul>
      )}
      <MoreButton list={found} label="Show more" />
    </Panel>
  );
}
