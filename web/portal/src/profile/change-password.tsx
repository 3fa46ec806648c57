import { fieldMessageOf } from "@gatehouse/web-kit/api-error.ts";
import { TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation } from "@tanstack/react-query";
import type { ReactNode, SubmitEvent } from "react";
import { ownSession, portalApi } from "../portal-client.ts";
import { usePortalTexts } from "../translations.ts";

/** Changes the person's own password from a form with `PasswordFields`. `onChanged` runs before the new session replaces the old one. */
export function usePasswordChange(onChanged?: () => void) {
  const t = usePortalTexts();
  const change = useMutation({
    mutationFn: (body: { current_password: string; new_password: string }) =>
      portalApi.call("POST /v1/portal/auth/change-password", { body }),
    async onSuccess(grant) {
      onChanged?.();
      await ownSession.replace(grant);
      showToast(t("passwordChanged"));
    },
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    change.mutate({ current_password: String(given.get("current")), new_password: String(given.get("new")) });
  };
  return { submit, error: change.error, isPending: change.isPending };
}

export function PasswordFields({ error, autoFocus = false }: { readonly error: Error | null; readonly autoFocus?: boolean }): ReactNode {
  const t = usePortalTexts();
  return (
    <>
      <TextField
        label={t("currentPassword")}
        name="current"
        type="password"
        autoComplete="current-password"
        required
        autoFocus={autoFocus}
        error={fieldMessageOf(error, "current_password")}
      />
      <TextField
        label={t("newPassword")}
        name="new"
        type="password"
        autoComplete="new-password"
        required
        minLength={8}
        hint={t("passwordHint")}
        error={fieldMessageOf(error, "new_password")}
      />
      <FormError error={error} atFields={["current_password", "new_password"]} />
    </>
  );
}
