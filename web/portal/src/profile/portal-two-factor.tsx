import { fieldMessageOf } from "@gatehouse/web-kit/api-error.ts";
import { Button } from "@gatehouse/web-kit/button.tsx";
import { TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { Badge, Panel } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { TwoFactorBegin } from "@gatehouse/web-kit/two-factor-begin.tsx";
import { TwoFactorSetup } from "@gatehouse/web-kit/two-factor-setup.tsx";
import { useMutation, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { portalApi } from "../portal-client.ts";
import { signOutOfPortal } from "../sign-out.ts";
import { usePortalTexts } from "../translations.ts";

function SwitchOff({ onDone, left }: { readonly onDone: () => Promise<unknown>; readonly left: number }): ReactNode {
  const t = usePortalTexts();
  const disable = useMutation({
    mutationFn: (code: string) => portalApi.call("POST /v1/portal/auth/2fa/disable", { body: { code } }),
    onSuccess: onDone,
  });
  return (
    <form
      className="grid max-w-sm gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        disable.mutate(String(new FormData(event.currentTarget).get("code")).trim());
      }}
    >
      <p>
        {t("twoFactorOn")} {t("backupLeft", { count: left })}
      </p>
      <TextField label={t("code")} name="code" autoComplete="one-time-code" required error={fieldMessageOf(disable.error, "code")} />
      <FormError error={disable.error} atFields={["code"]} />
      <div>
        <Button type="submit" look="danger" busy={disable.isPending}>
          {t("switchOff")}
        </Button>
      </div>
    </form>
  );
}

export function PortalTwoFactor(): ReactNode {
  const t = usePortalTexts();
  const status = useQuery({ queryKey: ["2fa"], queryFn: () => portalApi.call("GET /v1/portal/auth/2fa/status") });
  const setup = useMutation({
    mutationFn: (password: string | undefined) =>
      portalApi.call("POST /v1/portal/auth/2fa/setup", { body: password === undefined ? {} : { password } }),
  });
  const verify = useMutation({
    mutationFn: (code: string) => portalApi.call("POST /v1/portal/auth/2fa/verify", { body: { code } }),
    async onSuccess() {
      setup.reset();
      await status.refetch();
    },
  });
  if (status.isPending) return <Skeleton label={t("loading")} lines={2} />;
  if (status.isError) return <ErrorState error={status.error} title={t("unreadable")} requestLabel={t("request")} />;
  const { enabled, backup_codes_remaining: left } = status.data;
  const labels = {
    scan: t("scan"),
    qr: t("qr"),
    secret: t("typeSecret"),
    backup: t("backupCodes"),
    kept: t("backupKept"),
    copy: t("copy"),
    copied: t("copied"),
    code: t("codeNow"),
    confirm: t("switchOn"),
  };
  return (
    <Panel title={t("twoFactor")} actions={<Badge tone={enabled ? "good" : "neutral"}>{enabled ? t("on") : t("offState")}</Badge>}>
      {enabled ? (
        <SwitchOff left={left} onDone={() => status.refetch()} />
      ) : setup.data === undefined ? (
        <TwoFactorBegin
          lead={t("twoFactorLead")}
          onBegin={(password) => setup.mutate(password)}
          onSignOut={signOutOfPortal}
          error={setup.error}
          busy={setup.isPending}
          labels={{ begin: t("setUp"), password: t("currentPassword"), passwordHint: t("confirmsIdentity"), signOut: t("signOut") }}
        />
      ) : (
        <TwoFactorSetup
          setup={setup.data}
          onCode={(code) => verify.mutate(code)}
          error={fieldMessageOf(verify.error, "code") ?? verify.error}
          busy={verify.isPending}
          labels={labels}
        />
      )}
    </Panel>
  );
}
