import { renderSVG } from "uqr";
import { type ReactNode, type SubmitEvent, useMemo, useState } from "react";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";
import { CheckboxField, TextField } from "./field.tsx";
import { FormError } from "./form-error.tsx";

interface TwoFactorSetupProps {
  readonly setup: { readonly secret: string; readonly otpauth_url: string; readonly backup_codes: readonly string[] };
  readonly onCode: (code: string) => void;
  readonly error: unknown;
  readonly busy: boolean;
  readonly labels: {
    readonly scan: string;
    readonly qr: string;
    readonly secret: string;
    readonly backup: string;
    readonly kept: string;
    readonly copy: string;
    readonly copied: string;
    readonly code: string;
    readonly confirm: string;
  };
}

/** The QR code for an authenticator, the secret to type instead, the recovery codes, and a field for the first code. */
export function TwoFactorSetup({ setup, onCode, error, busy, labels }: TwoFactorSetupProps): ReactNode {
  const [kept, setKept] = useState(false);
  const picture = useMemo(
    () => `data:image/svg+xml,${encodeURIComponent(renderSVG(setup.otpauth_url, { border: 2 }))}`,
    [setup.otpauth_url],
  );
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    onCode(String(new FormData(event.currentTarget).get("code") ?? "").trim());
  };
  return (
    <form className="grid gap-5" onSubmit={submit}>
      <p>{labels.scan}</p>
      <img src={picture} alt={labels.qr} className="size-44 justify-self-center rounded-lg bg-white" />
      <p className="text-sm">
        {labels.secret} <code className="font-mono font-semibold break-all select-all">{setup.secret}</code>
      </p>
      <div className="grid gap-2">
        <div className="flex items-start justify-between gap-2">
          <p>{labels.backup}</p>
          <CopyButton text={setup.backup_codes.join("\n")} label={labels.copy} doneLabel={labels.copied} />
        </div>
        <ul className="grid grid-cols-1 gap-1 rounded-lg bg-sunken p-3 font-mono text-sm sm:grid-cols-2">
          {setup.backup_codes.map((code) => (
            <li key={code} className="select-all">
              {code}
            </li>
          ))}
        </ul>
        <CheckboxField label={labels.kept} checked={kept} onChange={(event) => setKept(event.target.checked)} />
      </div>
      <TextField label={labels.code} name="code" inputMode="numeric" autoComplete="one-time-code" required pattern="\d{6}" />
      <FormError error={error} />
      <Button type="submit" look="primary" disabled={!kept} busy={busy}>
        {labels.confirm}
      </Button>
    </form>
  );
}
