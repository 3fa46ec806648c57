import { fieldMessageOf } from "@gatehouse/web-kit/api-error.ts";
import { Button } from "@gatehouse/web-kit/button.tsx";
import { TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { Badge, Panel, PageFrame } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { TwoFactorBegin } from "@gatehouse/web-kit/two-factor-begin.tsx";
import { TwoFactorSetup } from "@gatehouse/web-kit/two-factor-setup.tsx";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, type SubmitEvent, useRef } from "react";
import { adminApi, adminSession } from "../admin-client.ts";
import { PRODUCT } from "../product.ts";
import { signOutOfConsole } from "../sign-out.ts";

const SETUP_LABELS = {
  scan: "Scan this with an authenticator app on your phone.",
  qr: "QR code for your authenticator app",
  secret: "Or type this into it:",
  backup: "Each of these codes signs you in once when your phone is lost. They are not shown again.",
  kept: "I have kept the backup codes",
  copy: "Copy the backup codes",
  copied: "Copied",
  code: "Code the app shows now",
  confirm: "Turn on",
};

function ChangePassword(): ReactNode {
  const form = useRef<HTMLFormElement>(null);
  const change = useMutation({
    mutationFn: (body: { current_password: string; new_password: string }) =>
      adminApi.call("POST /v1/admin-users/change-password", { body }),
    async onSuccess(grant) {
      form.current?.reset();
      await adminSession.replace(grant);
      showToast("Your password is changed. Other devices are signed out.");
    },
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    change.mutate({ current_password: String(given.get("current")), new_password: String(given.get("new")) });
  };
  return (
    <Panel title="Password">
      <form ref={form} className="grid max-w-sm gap-4" onSubmit={submit}>
        <TextField
          label="Current password"
          name="current"
          type="password"
          autoComplete="current-password"
          required
          error={fieldMessageOf(change.error, "current_password")}
        />
        <TextField
          label="New password"
          name="new"
          type="password"
          autoComplete="new-password"
          required
          minLength={8}
          hint="At least 8 characters."
          error={fieldMessageOf(change.error, "new_password")}
        />
        <FormError error={change.error} atFields={["current_password", "new_password"]} />
        <div>
          <Button type="submit" look="primary" busy={change.isPending}>
            Change password
          </Button>
        </div>
      </form>
    </Panel>
  );
}

const useFactorStatus = () => useQuery({ queryKey: ["2fa"], queryFn: () => adminApi.call("GET /v1/admin-users/2fa") });

function TwoFactor(): ReactNode {
  const status = useFactorStatus();
  const changed = async () => {
    await status.refetch();
    adminSession.setUser(await adminApi.call("GET /v1/admin-users/me"));
  };
  const setup = useMutation({
    mutationFn: (password: string | undefined) =>
      adminApi.call("POST /v1/admin-users/2fa/setup", { body: password === undefined ? {} : { password } }),
  });
  const verify = useMutation({
    mutationFn: (code: string) => adminApi.call("POST /v1/admin-users/2fa/verify", { body: { code } }),
    async onSuccess() {
      setup.reset();
      await changed();
      showToast("Two-factor sign-in is on.");
    },
  });
  const disable = useMutation({
    mutationFn: (code: string) => adminApi.call("POST /v1/admin-users/2fa/disable", { body: { code } }),
    async onSuccess() {
      await changed();
      showToast("Two-factor sign-in is off.");
    },
  });
  if (status.isPending) return <Skeleton label="Loading" lines={2} />;
  if (status.isError) return <ErrorState error={status.error} title="This could not be read" requestLabel="Request" />;
  const { enabled, backup_codes_remaining: left } = status.data;
  return (
    <Panel title="Two-factor sign-in" actions={<Badge tone={enabled ? "good" : "neutral"}>{enabled ? "On" : "Off"}</Badge>}>
      {enabled ? (
        <form
          className="grid max-w-sm gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            disable.mutate(String(new FormData(event.currentTarget).get("code")).trim());
          }}
        >
          <p>Signing in takes a code as well. {left} backup codes are left.</p>
          <TextField
            label="Code, to switch it off"
            name="code"
            autoComplete="one-time-code"
            required
            error={fieldMessageOf(disable.error, "code")}
          />
          <FormError error={disable.error} atFields={["code"]} />
          <div>
            <Button type="submit" look="danger" busy={disable.isPending}>
              Switch it off
            </Button>
          </div>
        </form>
      ) : setup.data === undefined ? (
        <TwoFactorBegin
          lead="Protects your account even if your password is stolen."
          onBegin={(password) => setup.mutate(password)}
          onSignOut={signOutOfConsole}
          error={setup.error}
          busy={setup.isPending}
          labels={{ begin: "Set it up", password: "Your password", passwordHint: "To make sure that it is you.", signOut: "Sign out" }}
        />
      ) : (
        <div className="max-w-md">
          <TwoFactorSetup
            setup={setup.data}
            onCode={(code) => verify.mutate(code)}
            error={fieldMessageOf(verify.error, "code") === undefined ? verify.error : null}
            busy={verify.isPending}
            labels={SETUP_LABELS}
          />
          {fieldMessageOf(verify.error, "code") !== undefined && (
            <p role="alert" className="mt-2 text-sm text-bad">
              The code {fieldMessageOf(verify.error, "code")}.
            </p>
          )}
        </div>
      )}
    </Panel>
  );
}

export function AccountPage(): ReactNode {
  const status = useFactorStatus();
  return (
    <PageFrame product={PRODUCT} title="Your account" width="reading">
      <div className="grid gap-6">
        <TwoFactor />
        {status.data?.has_password === true && <ChangePassword />}
      </div>
    </PageFrame>
  );
}
