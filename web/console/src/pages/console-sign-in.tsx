import { Button } from "@gatehouse/web-kit/button.tsx";
import { TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { SignInFrame } from "@gatehouse/web-kit/sign-in-frame.tsx";
import { SignOnOffers, takeSignOnCode } from "@gatehouse/web-kit/sign-on.tsx";
import { useSession } from "@gatehouse/web-kit/session.ts";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, type SubmitEvent, useEffect, useState } from "react";
import { adminApi, adminSession } from "../admin-client.ts";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";
import { PRODUCT } from "../product.ts";

type LoginAnswer = AdminApiSchemas["AccessToken"] | AdminApiSchemas["CodeOwed"];

const logIn = (username: string, password: string, tenant: string): Promise<LoginAnswer> =>
  tenant === ""
    ? adminApi.call("POST /v1/admin-users/login", { body: { username, password } })
    : adminApi.call("POST /v1/admin-users/tenant/login", { body: { username, password, tenant_id: tenant } });

const textOf = (form: FormData, name: string) => String(form.get(name) ?? "").trim();

function CodeStep({ tempToken, onBack }: { readonly tempToken: string; readonly onBack: () => void }): ReactNode {
  const finish = useMutation({
    mutationFn: (code: string) => adminApi.call("POST /v1/admin-users/login/2fa", { body: { temp_token: tempToken, code } }),
    onSuccess: (grant) => adminSession.begin(grant),
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    finish.mutate(textOf(new FormData(event.currentTarget), "code"));
  };
  return (
    <form className="grid gap-4" onSubmit={submit}>
      <TextField
        label="Code"
        name="code"
        hint="The six digits your authenticator shows, or one of your backup codes."
        autoComplete="one-time-code"
        required
        autoFocus
      />
      <FormError error={finish.error} unauthorized="The code is wrong or no longer valid." />
      <Button type="submit" look="primary" busy={finish.isPending}>
        Sign in
      </Button>
      <Button look="quiet" onClick={onBack}>
        Back
      </Button>
    </form>
  );
}

const tenantInAddress = () => new URLSearchParams(location.search).get("tenant") ?? "";

/** The tenant in the URL, which a link or a bookmark can name, and a function that changes it. */
function useTenantOfSignIn(): [string, (tenant: string) => void] {
  const [tenant, setTenant] = useState(tenantInAddress);
  const choose = (chosen: string) => {
    const address = new URL(location.href);
    if (chosen === "") address.searchParams.delete("tenant");
    else address.searchParams.set("tenant", chosen);
    history.replaceState(history.state, "", address);
    setTenant(chosen);
  };
  return [tenant, choose];
}

interface TenantChooserProps {
  readonly tenant: string;
  readonly onTenant: (tenant: string) => void;
  /** Nothing is offered for the tenant; whether it exists is not told. */
  readonly isWithout: boolean;
}

/** Chooses whose identity providers are offered; the password form has a tenant of its own. */
function TenantChooser({ tenant, onTenant, isWithout }: TenantChooserProps): ReactNode {
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    onTenant(textOf(new FormData(event.currentTarget), "sso_tenant"));
  };
  return (
    <details open={tenant !== ""} className="border-t border-line pt-4 text-sm">
      <summary className="w-fit cursor-pointer py-1 text-muted">Single sign-on of a tenant</summary>
      <form className="mt-2 grid gap-3" onSubmit={submit}>
        <TextField label="Tenant with single sign-on" name="sso_tenant" maxLength={63} defaultValue={tenant} required />
        {isWithout && <p role="status">No single sign-on is offered for this tenant.</p>}
        <div>
          <Button type="submit">Show its single sign-on</Button>
        </div>
      </form>
    </details>
  );
}

export function ConsoleSignIn(): ReactNode {
  const session = useSession(adminSession);
  const [owed, setOwed] = useState<string | null>(null);
  const goOn = (answer: LoginAnswer) => ("requires_2fa" in answer ? setOwed(answer.temp_token) : adminSession.begin(answer));
  const [tenant, setTenant] = useTenantOfSignIn();
  const offers = useQuery({
    queryKey: ["sso", tenant],
    queryFn: () => adminApi.call("GET /v1/admin-users/sso", tenant === "" ? {} : { query: { tenant_id: tenant } }),
    retry: false,
  });
  const [code] = useState(takeSignOnCode);
  const { mutate: exchange, error: refused } = useMutation({
    mutationFn: (given: string) => adminApi.call("POST /v1/admin-users/sso/exchange", { body: { code: given } }),
    onSuccess: goOn,
  });
  useEffect(() => {
    if (code !== null) exchange(code);
  }, [code, exchange]);
  const login = useMutation({
    mutationFn: (form: FormData) => logIn(textOf(form, "username"), String(form.get("password") ?? ""), textOf(form, "tenant")),
    onSuccess: goOn,
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    login.mutate(new FormData(event.currentTarget));
  };
  return (
    <SignInFrame product={PRODUCT} title={owed === null ? "Sign in" : "One more step"}>
      {session.state === "out" && session.ended && <p role="status">Your session has ended. Sign in again to continue.</p>}
      <FormError error={refused} />
      {owed === null && <SignOnOffers offers={offers.data?.providers ?? []} label={(name) => `Sign in with ${name}`} />}
      {owed === null ? (
        <form className="grid gap-4" onSubmit={submit}>
          <TextField label="User name" name="username" autoComplete="username" required autoFocus />
          <TextField label="Password" name="password" type="password" autoComplete="current-password" required />
          <details className="text-sm">
            <summary className="w-fit cursor-pointer py-1 text-muted">Tenant</summary>
            <TextField
              label="Tenant"
              name="tenant"
              hint="Only if an administrator of your name exists in more than one."
              autoComplete="organization"
            />
          </details>
          <FormError error={login.error} unauthorized="The user name or the password is wrong." />
          <Button type="submit" look="primary" busy={login.isPending}>
            Sign in
          </Button>
        </form>
      ) : (
        <CodeStep tempToken={owed} onBack={() => setOwed(null)} />
      )}
      {owed === null && (
        <TenantChooser tenant={tenant} onTenant={setTenant} isWithout={tenant !== "" && offers.data?.providers.length === 0} />
      )}
    </SignInFrame>
  );
}
