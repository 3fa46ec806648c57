import { Button } from "@gatehouse/web-kit/button.tsx";
import { SelectField, TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import { IDENTITIES_KEY, IdentityLine } from "./identity-line.tsx";

/** The account whose identities are shown. */
export interface Account {
  readonly kind: "people" | "administrators";
  readonly id: string;
  readonly name: string;
}

interface Provider {
  readonly id: string;
  readonly name: string;
}

const PAGE = 200;

const referTo = ({ kind, id }: Account) => (kind === "people" ? { end_user_id: id } : { admin_user_id: id });

async function providersFor({ kind }: Account): Promise<Provider[]> {
  const providers: Provider[] = [];
  for (let page = 1; ; page++) {
    const answer = await adminApi.call("GET /v1/admin/identity-providers", {
      query: { audience: kind === "people" ? "portal" : "admin", page, page_size: PAGE },
    });
    providers.push(...answer.identity_providers);
    if (page * PAGE >= answer.total) return providers;
  }
}

async function identitiesAt(account: Account, provider: Provider) {
  const { identities } = await adminApi.call("GET /v1/admin/identity-providers/{id}/identities", {
    path: { id: provider.id },
    query: { ...referTo(account), page_size: PAGE },
  });
  return identities.map((identity) => ({ provider, identity }));
}

async function read(account: Account) {
  const providers = await providersFor(account);
  const linked = await Promise.all(providers.map((provider) => identitiesAt(account, provider)));
  return { providers, linked: linked.flat() };
}

/** An account's identities at identity providers, with controls to link and unlink them. */
export function LinkedIdentities({ account, mayChange }: { readonly account: Account; readonly mayChange: boolean }): ReactNode {
  const found = useQuery({ queryKey: [...IDENTITIES_KEY, account.kind, account.id], queryFn: () => read(account) });
  return (
    <Panel title="Linked identities">
      {found.isPending && <Skeleton label="Loading" lines={2} />}
      {found.isError && <ErrorState error={found.error} title="The linked identities could not be read" requestLabel="Request" />}
      {found.isSuccess && (
        <div className="grid gap-4">
          {found.data.linked.length === 0 && <p className="text-muted">{account.name} signs in by no identity provider.</p>}
          {found.data.linked.length > 0 && (
            <ul className="grid gap-3">
              {found.data.linked.map(({ provider, identity }) => (
                <IdentityLine
                  key={`${provider.id} ${identity.subject}`}
                  provider={provider}
                  identity={identity}
                  accountName={account.name}
                  mayUnlink={mayChange}
                >
                  <Link to="/manage/$kind/$id" params={{ kind: "sign-on", id: provider.id }} className="text-accent underline">
                    {provider.name}
                  </Link>
                </IdentityLine>
              ))}
            </ul>
          )}
          {mayChange && found.data.providers.length > 0 && <LinkForm account={account} providers={found.data.providers} />}
        </div>
      )}
    </Panel>
  );
}

function LinkForm({ account, providers }: { readonly account: Account; readonly providers: readonly Provider[] }): ReactNode {
  const [chosen, setChosen] = useState("");
  const [subject, setSubject] = useState("");
  const queries = useQueryClient();
  const link = useMutation({
    mutationFn: () =>
      adminApi.call("POST /v1/admin/identity-providers/{id}/identities", { path: { id: chosen }, body: { subject, ...referTo(account) } }),
    async onSuccess() {
      setSubject("");
      await queries.invalidateQueries({ queryKey: IDENTITIES_KEY });
      showToast(`Linked. Whoever it is there signs in as ${account.name}.`);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    link.mutate();
  };
  return (
    <form onSubmit={submit} className="grid gap-3 border-t border-line pt-4">
      <div className="flex flex-wrap items-start gap-3">
        <SelectField
          label="Identity provider"
          value={chosen}
          onChange={({ target }) => setChosen(target.value)}
          choices={[{ value: "", label: "Choose one" }, ...providers.map(({ id, name }) => ({ value: id, label: name }))]}
        />
        <TextField
          label="Known there by"
          hint="As a test sign-in of the provider shows it. Not a name or a mail address: these can go to somebody else."
          className="grow"
          spellCheck={false}
          autoComplete="off"
          value={subject}
          onChange={({ target }) => setSubject(target.value)}
        />
      </div>
      <FormError error={link.error} />
      <div>
        <Button type="submit" busy={link.isPending} disabled={chosen === "" || subject === ""}>
          Link it
        </Button>
      </div>
    </form>
  );
}
