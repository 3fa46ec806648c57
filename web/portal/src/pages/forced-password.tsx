import { Button } from "@gatehouse/web-kit/button.tsx";
import { SignInFrame } from "@gatehouse/web-kit/sign-in-frame.tsx";
import type { ReactNode } from "react";
import { PasswordFields, usePasswordChange } from "../profile/change-password.tsx";
import { signOutOfPortal } from "../sign-out.ts";
import { usePortalTexts } from "../translations.ts";

/** Blocks all other pages for people who signed in with a password set by someone else. */
export function ForcedPassword(): ReactNode {
  const t = usePortalTexts();
  const { submit, error, isPending } = usePasswordChange();
  return (
    <SignInFrame product={t("product")} title={t("choosePassword")}>
      <form className="grid gap-4" onSubmit={submit}>
        <p className="text-muted">{t("choosePasswordLead")}</p>
        <PasswordFields error={error} autoFocus />
        <Button type="submit" look="primary" busy={isPending}>
          {t("changePassword")}
        </Button>
        <Button look="quiet" onClick={signOutOfPortal}>
          {t("signOut")}
        </Button>
      </form>
    </SignInFrame>
  );
}
