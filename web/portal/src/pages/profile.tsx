import { fieldMessageOf } from "@gatehouse/web-kit/api-error.ts";
import { Button, buttonClass } from "@gatehouse/web-kit/button.tsx";
import { TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { Panel, PageFrame } from "@gatehouse/web-kit/page.tsx";
import { ErrorState, Skeleton } from "@gatehouse/web-kit/states.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleUser } from "lucide-react";
import { type ReactNode, type SubmitEvent, useRef } from "react";
import type { PortalProfile } from "../api/portal-records.ts";
import { portalApi } from "../portal-client.ts";
import { OwnKeysPanel } from "../profile/own-keys.tsx";
import { PrimaryGroupPanel } from "../profile/primary-group.tsx";
import { PortalTwoFactor } from "../profile/portal-two-factor.tsx";
import { PasswordFields, usePasswordChange } from "../profile/change-password.tsx";
import { usePortalTexts } from "../translations.ts";

function Who({ profile }: { readonly profile: PortalProfile }): ReactNode {
  const t = usePortalTexts();
  const cache = useQueryClient();
  const renew = () => cache.invalidateQueries({ queryKey: ["profile"] });
  const save = useMutation({
    mutationFn: (body: { email: string | null; display_name: string | null }) => portalApi.call("PATCH /v1/portal/auth/profile", { body }),
    async onSuccess() {
      showToast(t("saved"));
      await renew();
    },
  });
  const photo = useMutation({
    mutationFn: (file: File) => {
      const body = new FormData();
      body.set("file", file);
      return portalApi.call("POST /v1/portal/auth/profile/photo", { body });
    },
    onSuccess: renew,
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const [email, name] = [String(form.get("email")).trim(), String(form.get("display_name")).trim()];
    save.mutate({ email: email || null, display_name: name || null });
  };
  const own = profile.avatar_url?.startsWith("/") === true || profile.avatar_url?.startsWith(location.origin) === true;
  return (
    <Panel title={profile.username}>
      <div className="grid gap-6 sm:grid-cols-[auto_1fr]">
        <div className="grid content-start justify-items-center gap-3">
          {own ? (
            <img src={profile.avatar_url ?? ""} alt={t("photo")} className="size-24 rounded-full object-cover" />
          ) : (
            <CircleUser aria-hidden size={96} strokeWidth={1} className="text-muted" />
          )}
          <label className={buttonClass("secondary", "cursor-pointer focus-within:outline-2 focus-within:outline-accent")}>
            {t("changePhoto")}
            <input
              type="file"
              accept="image/jpeg,image/png,image/webp,image/gif"
              className="sr-only"
              onChange={(event) => {
                const [file] = event.target.files ?? [];
                if (file !== undefined) photo.mutate(file);
              }}
            />
          </label>
          <FormError error={photo.error} />
        </div>
        <form className="grid max-w-sm gap-4" onSubmit={submit}>
          <TextField
            label={t("displayName")}
            name="display_name"
            autoComplete="name"
            defaultValue={profile.display_name ?? ""}
            error={fieldMessageOf(save.error, "display_name")}
          />
          <TextField
            label={t("email")}
            name="email"
            type="email"
            autoComplete="email"
            defaultValue={profile.email ?? ""}
            error={fieldMessageOf(save.error, "email")}
          />
          <FormError error={save.error} atFields={["display_name", "email"]} />
          <div>
            <Button type="submit" look="primary" busy={save.isPending}>
              {t("save")}
            </Button>
          </div>
        </form>
      </div>
    </Panel>
  );
}

function PortalPassword(): ReactNode {
  const t = usePortalTexts();
  const form = useRef<HTMLFormElement>(null);
  const { submit, error, isPending } = usePasswordChange(() => form.current?.reset());
  return (
    <Panel title={t("password")}>
      <form ref={form} className="grid max-w-sm gap-4" onSubmit={submit}>
        <PasswordFields error={error} />
        <div>
          <Button type="submit" look="primary" busy={isPending}>
            {t("changePassword")}
          </Button>
        </div>
      </form>
    </Panel>
  );
}

export function ProfilePage(): ReactNode {
  const t = usePortalTexts();
  const profile = useQuery({ queryKey: ["profile"], queryFn: () => portalApi.call("GET /v1/portal/auth/profile") });
  return (
    <PageFrame product={t("product")} title={t("navProfile")} lead={t("profileLead")} width="reading">
      <div className="grid gap-6">
        {profile.isPending && <Skeleton label={t("loading")} />}
        {profile.isError && <ErrorState error={profile.error} title={t("unreadable")} requestLabel={t("request")} />}
        {profile.isSuccess && <Who profile={profile.data} />}
        <PrimaryGroupPanel />
        <OwnKeysPanel />
        <PortalTwoFactor />
        {profile.data?.has_password === true && <PortalPassword />}
      </div>
    </PageFrame>
  );
}
