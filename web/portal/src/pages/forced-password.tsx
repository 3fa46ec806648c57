import { ApiError, fieldMessageOf } from "@gatehouse/web-kit/api-error.ts";
import { Button } from "@gatehouse/web-kit/button.tsx";
import { TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { SignInFrame } from "@gatehouse/web-kit/sign-in-frame.tsx";
import { tell } from "@gatehouse/web-kit/toast.tsx";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode, SubmitEvent } from "react";
import { ownSession, portalApi } from "../portal-client.ts";
import { usePortalTexts } from "../translations.ts";

/** Stands before everything else for whoever signed in with a password that somebody else chose. */
export function ForcedPassword(): ReactNode {
  const t = usePortalTexts();
  const change = useMutation({
    mutationFn: (body: { current_password: string; new_password: string }) =>
      portalApi.call("POST /v1/portal/auth/change-password", { body }),
    async onSuccess(grant) {
      await ownSession.replace(grant);
      tell(t("passwordChanged"));
    },
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    change.mutate({ current_password: String(given.get("current")), new_password: String(given.get("new")) });
  };
  return (
    <SignInFrame product={t("product")} title={t("choosePassword")}>
      <form className="grid gap-4" onSubmit={submit}>
        <p className="text-muted">{t("choosePasswordLead")}</p>
        <TextField
          label={t("currentPassword")}
          name="current"
          type="password"
          autoComplete="current-password"
          required
          autoFocus
          error={fieldMessageOf(change.error, "current_password")}
        />
        <TextField
          label={t("newPassword")}
          name="new"
          type="password"
          autoComplete="new-password"
          required
          minLength={8}
          hint={t("passwordHint")}
          error={fieldMessageOf(change.error, "new_password")}
        />
        <FormError error={change.error} atFields={["current_password", "new_password"]} />
        <Button type="submit" look="primary" busy={change.isPending}>
          {t("changePassword")}
        </Button>
        <Button
          look="quiet"
          onClick={() => void ownSession.end().catch((error) => tell(error instanceof ApiError ? error.message : t("unreachable")))}
        >
          {t("signOut")}
        </Button>
      </form>
    </SignInFrame>
  );
}
