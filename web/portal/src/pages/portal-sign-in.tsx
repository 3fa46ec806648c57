import { fieldMessageOf } from "@gatehouse/web-kit/api-error.ts";
import { Button } from "@gatehouse/web-kit/button.tsx";
import { TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { SignInFrame } from "@gatehouse/web-kit/sign-in-frame.tsx";
import { SignOnOffers, takeSignOnCode } from "@gatehouse/web-kit/sign-on.tsx";
import { useSession } from "@gatehouse/web-kit/session.ts";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, type SubmitEvent, useEffect, useState } from "react";
import { portalApi, ownSession } from "../portal-client.ts";
import { LANGUAGE_NAMES, translations, usePortalTexts } from "../translations.ts";

const textOf = (form: FormData, name: string) => String(form.get(name) ?? "").trim();

function LanguageChoice(): ReactNode {
  const t = usePortalTexts();
  return (
    <label className="flex items-center gap-2 text-sm text-muted">
      {t("language")}
      <select
        value={translations.locale()}
        onChange={(event) => void translations.choose(event.target.value)}
        className="min-h-8 rounded-lg border border-edge bg-surface px-2 text-ink"
      >
        {translations.languages().map((language) => (
          <option key={language} value={language} lang={language}>
            {LANGUAGE_NAMES[language]}
          </option>
        ))}
      </select>
    </label>
  );
}

interface StepProps {
  readonly onOwed: (tempToken: string) => void;
  readonly onOther: () => void;
}

function useLogin(onOwed: (tempToken: string) => void) {
  return async (form: FormData) => {
    const body = { username: textOf(form, "username"), password: String(form.get("password") ?? "") };
    const answer = await portalApi.call("POST /v1/portal/auth/login", { body, headers: forTenantOf(form) });
    if ("requires_2fa" in answer) onOwed(answer.temp_token);
    else await ownSession.begin(answer);
  };
}

/** Only for the sign-in calls: later calls get the tenant from the token, whoever signs in next. */
function forTenantOf(form: FormData): Record<string, string> {
  const tenant = textOf(form, "tenant");
  return tenant === "" ? {} : { "x-tenant-id": tenant };
}

function TenantField(): ReactNode {
  const t = usePortalTexts();
  const [given] = useState(() => new URLSearchParams(location.search).get("tenant") ?? "");
  return (
    <details open={given !== ""} className="text-sm">
      <summary className="w-fit cursor-pointer py-1 text-muted">{t("tenant")}</summary>
      <TextField label={t("tenant")} name="tenant" hint={t("tenantHint")} defaultValue={given} autoComplete="organization" />
    </details>
  );
}

/** Password sign-in is off; another tenant may allow it. */
function NoPasswords({ tenant }: { readonly tenant: string }): ReactNode {
  const t = usePortalTexts();
  return (
    <form className="grid gap-4">
      <p>{t("passwordsOff")}</p>
      <TextField label={t("tenant")} name="tenant" hint={t("tenantHint")} defaultValue={tenant} autoComplete="organization" />
      <Button type="submit">{t("goOn")}</Button>
    </form>
  );
}

function PasswordStep({ onOwed, onOther }: StepProps): ReactNode {
  const t = usePortalTexts();
  const logIn = useLogin(onOwed);
  const login = useMutation({ mutationFn: logIn });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    login.mutate(new FormData(event.currentTarget));
  };
  return (
    <form className="grid gap-4" onSubmit={submit}>
      <TextField label={t("username")} name="username" autoComplete="username" required autoFocus />
      <TextField label={t("password")} name="password" type="password" autoComplete="current-password" required />
      <TenantField />
      <FormError error={login.error} unauthorized={t("signInWrong")} />
      <Button type="submit" look="primary" busy={login.isPending}>
        {t("signIn")}
      </Button>
      <p className="flex flex-wrap items-center justify-center gap-x-2 text-sm text-muted">
        {t("newHere")}
        <Button look="quiet" className="!text-accent" onClick={onOther}>
          {t("register")}
        </Button>
      </p>
    </form>
  );
}

function RegisterStep({ onOwed, onOther }: StepProps): ReactNode {
  const t = usePortalTexts();
  const logIn = useLogin(onOwed);
  const register = useMutation({
    mutationFn: async (form: FormData) => {
      const [username, password] = [textOf(form, "username"), String(form.get("password") ?? "")];
      const [email, name] = [textOf(form, "email"), textOf(form, "display_name")];
      await portalApi.call("POST /v1/portal/auth/register", {
        body: { username, password, ...(email === "" ? {} : { email }), ...(name === "" ? {} : { display_name: name }) },
        headers: forTenantOf(form),
      });
      await logIn(form);
    },
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    register.mutate(new FormData(event.currentTarget));
  };
  const wrong = (name: string) => fieldMessageOf(register.error, name);
  return (
    <form className="grid gap-4" onSubmit={submit}>
      <TextField label={t("username")} name="username" autoComplete="username" required autoFocus error={wrong("username")} />
      <TextField
        label={t("password")}
        name="password"
        type="password"
        autoComplete="new-password"
        required
        minLength={8}
        hint={t("passwordHint")}
        error={wrong("password")}
      />
      <TextField label={t("displayName")} name="display_name" autoComplete="name" error={wrong("display_name")} />
      <TextField label={t("email")} name="email" type="email" autoComplete="email" error={wrong("email")} />
      <TenantField />
      <FormError error={register.error} atFields={["username", "password", "display_name", "email"]} />
      <Button type="submit" look="primary" busy={register.isPending}>
        {t("register")}
      </Button>
      <p className="flex flex-wrap items-center justify-center gap-x-2 text-sm text-muted">
        {t("haveAccount")}
        <Button look="quiet" className="!text-accent" onClick={onOther}>
          {t("signIn")}
        </Button>
      </p>
    </form>
  );
}

function PortalCodeStep({ tempToken, onBack }: { readonly tempToken: string; readonly onBack: () => void }): ReactNode {
  const t = usePortalTexts();
  const finish = useMutation({
    mutationFn: (code: string) => portalApi.call("POST /v1/portal/auth/login/2fa", { body: { temp_token: tempToken, code } }),
    onSuccess: (grant) => ownSession.begin(grant),
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    finish.mutate(textOf(new FormData(event.currentTarget), "code"));
  };
  return (
    <form className="grid gap-4" onSubmit={submit}>
      <TextField label={t("code")} name="code" hint={t("codeHint")} autoComplete="one-time-code" required autoFocus />
      <FormError error={finish.error} unauthorized={t("codeWrong")} />
      <Button type="submit" look="primary" busy={finish.isPending}>
        {t("signIn")}
      </Button>
      <Button look="quiet" onClick={onBack}>
        {t("back")}
      </Button>
    </form>
  );
}

export function PortalSignIn(): ReactNode {
  const t = usePortalTexts();
  const session = useSession(ownSession);
  const [owed, setOwed] = useState<string | null>(null);
  const [registers, setRegisters] = useState(false);
  const [tenant] = useState(() => new URLSearchParams(location.search).get("tenant") ?? "");
  const offers = useQuery({
    queryKey: ["sso", tenant],
    queryFn: () => portalApi.call("GET /v1/portal/auth/sso", tenant === "" ? {} : { query: { tenant_id: tenant } }),
    retry: false,
  });
  const [code] = useState(takeSignOnCode);
  const { mutate: exchange, error: refused } = useMutation({
    mutationFn: (given: string) => portalApi.call("POST /v1/portal/auth/sso/exchange", { body: { code: given } }),
    onSuccess: (grant) => ownSession.begin(grant),
  });
  useEffect(() => {
    if (code !== null) exchange(code);
  }, [code, exchange]);
  const title = owed !== null ? t("oneMoreStep") : registers ? t("register") : t("signIn");
  return (
    <SignInFrame product={t("product")} title={title} foot={<LanguageChoice />}>
      {session.state === "out" && session.ended && <p role="status">{t("sessionEnded")}</p>}
      <FormError error={refused} />
      {owed === null && <SignOnOffers offers={offers.data?.providers ?? []} label={(name) => t("signInWith", { name })} />}
      {offers.data?.local_passwords === false ? (
        <NoPasswords tenant={tenant} />
      ) : owed !== null ? (
        <PortalCodeStep tempToken={owed} onBack={() => setOwed(null)} />
      ) : registers ? (
        <RegisterStep onOwed={setOwed} onOther={() => setRegisters(false)} />
      ) : (
        <PasswordStep onOwed={setOwed} onOther={() => setRegisters(true)} />
      )}
    </SignInFrame>
  );
}
