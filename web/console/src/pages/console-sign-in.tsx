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

export function ConsoleSignIn(): ReactNode {
  const session = useSession(adminSession);
  const [owed, setOwed] = useState<string | null>(null);
  const goOn = (answer: LoginAnswer) => ("requires_2fa" in answer ? setOwed(answer.temp_token) : adminSession.begin(answer));
  const offers = useQuery({ queryKey: ["sso"], queryFn: () => adminApi.call("GET /v1/admin-users/sso"), retry: false });
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
    </SignInFrame>
  );
}
